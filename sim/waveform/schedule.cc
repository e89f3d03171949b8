// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/schedule.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::sim {
namespace {

constexpr absl::string_view kReservedVm = "vm0";

enum Column { kStart, kEnd, kVm, kContext, kSlice, kColumns };
constexpr std::array<absl::string_view, kColumns> kColumnNames = {"start_cycle", "end_cycle", "vm", "context", "slice"};

std::string Shown(absl::string_view field) { return absl::StrCat("'", absl::CHexEscape(field.substr(0, 80)), "'"); }

std::vector<absl::string_view> Fields(absl::string_view line) {
  std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
  for (absl::string_view& field : fields) field = absl::StripAsciiWhitespace(field);
  return fields;
}

absl::StatusOr<uint64_t> Whole(absl::string_view text, absl::string_view column, uint64_t high) {
  uint64_t value = 0;
  // SimpleAtoi also accepts leading white space and signs.
  const bool digits = !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
  if (digits && absl::SimpleAtoi(text, &value) && value <= high) return value;
  return absl::InvalidArgumentError(
      absl::StrCat(column, ": expected a whole number up to ", high, ", not ", Shown(text)));
}

absl::Status CheckName(absl::string_view name, absl::string_view column) {
  if (name.size() > kScheduleNameSizeMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(column, " ", Shown(name), " is longer than ", kScheduleNameSizeMax, " characters"));
  }
  const auto is_graph = [](unsigned char c) { return absl::ascii_isgraph(c); };
  if (std::all_of(name.begin(), name.end(), is_graph)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(column, " ", Shown(name), " must be printable ASCII without spaces"));
}

class ScheduleParser {
 public:
  // For a line that is not blank. Errors have no position.
  absl::Status Line(absl::string_view text, size_t line);
  bool has_header() const { return !header_.empty(); }
  std::vector<Residency> Take() && { return std::move(rows_); }

 private:
  absl::Status Header(const std::vector<absl::string_view>& fields);
  absl::Status Row(const std::vector<absl::string_view>& fields, size_t line);
  absl::Status CheckCycles(const Residency& row);
  absl::Status CheckTenants(const Residency& row);
  absl::string_view Field(const std::vector<absl::string_view>& fields, Column column) const {
    return places_[column] ? fields[*places_[column]] : absl::string_view("0");
  }

  std::vector<std::string> header_;
  std::array<std::optional<size_t>, kColumns> places_;
  std::vector<Residency> rows_;
  std::map<uint32_t, std::pair<uint64_t, size_t>> ends_;  // per slice, the last row's end and line
  absl::flat_hash_set<std::string> vms_;
  absl::flat_hash_set<std::pair<std::string, std::string>> contexts_;
};

absl::Status ScheduleParser::Line(absl::string_view text, size_t line) {
  if (absl::StrContains(text, '"')) return absl::InvalidArgumentError("fields with quotes are not supported");
  const std::vector<absl::string_view> fields = Fields(text);
  return has_header() ? Row(fields, line) : Header(fields);
}

absl::Status ScheduleParser::Header(const std::vector<absl::string_view>& fields) {
  for (const absl::string_view field : fields) header_.emplace_back(field);
  for (size_t column = 0; column < kColumns; ++column) {
    const auto found = std::find(fields.begin(), fields.end(), kColumnNames[column]);
    if (found == fields.end() && column == kSlice) continue;
    if (found == fields.end()) {
      const std::string nearest = NearestMatch(kColumnNames[column], header_);
      return absl::InvalidArgumentError(
          absl::StrCat("the header row has no column '", kColumnNames[column], "'",
                       nearest.empty() ? "" : absl::StrCat(" (is it ", Shown(nearest), "?)")));
    }
    if (std::count(fields.begin(), fields.end(), kColumnNames[column]) > 1) {
      return absl::InvalidArgumentError(absl::StrCat("column '", kColumnNames[column], "' is there twice"));
    }
    places_[column] = static_cast<size_t>(found - fields.begin());
  }
  return absl::OkStatus();
}

absl::Status ScheduleParser::Row(const std::vector<absl::string_view>& fields, size_t line) {
  if (fields.size() != header_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", header_.size(), " fields as in the header row, not ", fields.size()));
  }
  Residency row{.vm = std::string(Field(fields, kVm)), .context = std::string(Field(fields, kContext)), .line = line};
  SIDEBAND_ASSIGN_OR_RETURN(row.start_cycle, Whole(Field(fields, kStart), "start_cycle", UINT64_MAX));
  SIDEBAND_ASSIGN_OR_RETURN(row.end_cycle, Whole(Field(fields, kEnd), "end_cycle", UINT64_MAX));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, Whole(Field(fields, kSlice), "slice", kScheduleSliceMax));
  row.slice = static_cast<uint32_t>(slice);
  if (row.vm.empty()) return absl::InvalidArgumentError("vm is empty");
  if (row.vm == kReservedVm) return absl::InvalidArgumentError("vm0 is reserved for the hypervisor's totals");
  SIDEBAND_RETURN_IF_ERROR(CheckName(row.vm, "vm"));
  SIDEBAND_RETURN_IF_ERROR(CheckName(row.context, "context"));
  SIDEBAND_RETURN_IF_ERROR(CheckCycles(row));
  SIDEBAND_RETURN_IF_ERROR(CheckTenants(row));
  rows_.push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status ScheduleParser::CheckCycles(const Residency& row) {
  if (row.start_cycle >= row.end_cycle) {
    return absl::InvalidArgumentError(
        absl::StrCat("start_cycle ", row.start_cycle, " is not below end_cycle ", row.end_cycle));
  }
  const auto [last, first_of_slice] = ends_.try_emplace(row.slice, row.end_cycle, row.line);
  if (!first_of_slice && row.start_cycle < last->second.first) {
    return absl::InvalidArgumentError(absl::StrCat("starts at cycle ", row.start_cycle, ", before the row of line ",
                                                   last->second.second, " on slice ", row.slice, " ends at ",
                                                   last->second.first));
  }
  last->second = {row.end_cycle, row.line};
  return absl::OkStatus();
}

absl::Status ScheduleParser::CheckTenants(const Residency& row) {
  vms_.insert(row.vm);
  if (!row.context.empty()) contexts_.emplace(row.vm, row.context);
  if (vms_.size() > kScheduleVmsMax)
    return absl::InvalidArgumentError(absl::StrCat("more than ", kScheduleVmsMax, " VMs"));
  if (contexts_.size() <= kScheduleContextsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("more than ", kScheduleContextsMax, " contexts"));
}

}  // namespace

absl::StatusOr<std::vector<Residency>> LoadSchedule(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseSchedule(text, path);
}

absl::StatusOr<std::vector<Residency>> ParseSchedule(const std::string& text, const std::string& path) {
  ScheduleParser parser;
  size_t line = 0;
  // Spreadsheet programs write a byte order mark before the first column.
  for (absl::string_view row : absl::StrSplit(absl::StripPrefix(text, "\xef\xbb\xbf"), '\n')) {
    ++line;
    row = absl::StripAsciiWhitespace(row);
    if (row.empty()) continue;
    SIDEBAND_RETURN_IF_ERROR(AtLine(parser.Line(row, line), path, line));
  }
  if (!parser.has_header()) return LineError(path, 1, "the header row is missing");
  return std::move(parser).Take();
}

}  // namespace sideband::sim
