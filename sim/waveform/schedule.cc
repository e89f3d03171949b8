// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/schedule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/csv_rows.h"

namespace sideband::sim {
namespace {

enum ScheduleColumn { kStart, kEnd, kVm, kContext, kSlice, kTag };
constexpr CsvColumn kScheduleColumns[] = {{.name = "start_cycle"},
                                          {.name = "end_cycle"},
                                          {.name = "vm"},
                                          {.name = "context"},
                                          {.name = "slice", .otherwise = "0"},
                                          {.name = "tag", .otherwise = ""}};

class ScheduleParser {
 public:
  // Errors have no position.
  absl::Status Row(const CsvRow& row);
  std::vector<Residency> Take() && { return std::move(rows_); }

 private:
  absl::Status CheckCycles(const Residency& row);
  absl::Status CheckTenants(const Residency& row);

  std::vector<Residency> rows_;
  std::map<uint32_t, std::pair<uint64_t, size_t>> ends_;  // per slice, the last row's end and line
  absl::flat_hash_set<std::string> vms_;
  absl::flat_hash_set<std::pair<std::string, std::string>> contexts_;
};

absl::Status ScheduleParser::Row(const CsvRow& fields) {
  Residency row{
      .vm = std::string(fields.field(kVm)), .context = std::string(fields.field(kContext)), .line = fields.line()};
  SIDEBAND_ASSIGN_OR_RETURN(row.start_cycle, fields.Whole(kStart, UINT64_MAX));
  SIDEBAND_ASSIGN_OR_RETURN(row.end_cycle, fields.Whole(kEnd, UINT64_MAX));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, fields.Whole(kSlice, kScheduleSliceMax));
  row.slice = static_cast<uint32_t>(slice);
  if (!fields.field(kTag).empty()) {
    SIDEBAND_ASSIGN_OR_RETURN(row.tag, fields.Whole(kTag, UINT64_MAX));
  }
  if (row.vm.empty()) return absl::InvalidArgumentError("vm is empty");
  if (row.is_host() && !row.context.empty()) {
    return absl::InvalidArgumentError("vm0 is the hypervisor, which has no contexts");
  }
  SIDEBAND_RETURN_IF_ERROR(fields.CheckName(kVm, kScheduleNameSizeMax));
  SIDEBAND_RETURN_IF_ERROR(fields.CheckName(kContext, kScheduleNameSizeMax));
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
  if (row.is_host()) return absl::OkStatus();
  vms_.insert(row.vm);
  if (!row.context.empty()) contexts_.emplace(row.vm, row.context);
  if (vms_.size() > kScheduleVmsMax)
    return absl::InvalidArgumentError(absl::StrCat("more than ", kScheduleVmsMax, " VMs"));
  if (contexts_.size() <= kScheduleContextsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("more than ", kScheduleContextsMax, " contexts"));
}

enum ExitColumn { kExitSlice, kExitStart, kExitEnd };
constexpr CsvColumn kExitColumns[] = {{.name = "slice"}, {.name = "start_cycle"}, {.name = "end_cycle"}};

class ExitParser {
 public:
  explicit ExitParser(const std::vector<Residency>& schedule) {
    for (const Residency& residency : schedule) {
      if (!residency.is_host()) of_slice_[residency.slice].push_back(&residency);
    }
  }

  // Errors have no position.
  absl::Status Row(const CsvRow& fields) {
    VmExit row;
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, fields.Whole(kExitSlice, kScheduleSliceMax));
    row.slice = static_cast<uint32_t>(slice);
    SIDEBAND_ASSIGN_OR_RETURN(row.start_cycle, fields.Whole(kExitStart, UINT64_MAX));
    SIDEBAND_ASSIGN_OR_RETURN(row.end_cycle, fields.Whole(kExitEnd, UINT64_MAX));
    if (row.start_cycle >= row.end_cycle) {
      return absl::InvalidArgumentError(
          absl::StrCat("start_cycle ", row.start_cycle, " is not below end_cycle ", row.end_cycle));
    }
    SIDEBAND_RETURN_IF_ERROR(CheckOrder(row, fields.line()));
    SIDEBAND_RETURN_IF_ERROR(CheckResident(row));
    rows_.push_back(row);
    return absl::OkStatus();
  }
  std::vector<VmExit> Take() && { return std::move(rows_); }

 private:
  absl::Status CheckOrder(const VmExit& row, size_t line) {
    const auto [last, is_first] = ends_.try_emplace(row.slice, row.end_cycle, line);
    if (!is_first && row.start_cycle < last->second.first) {
      return absl::InvalidArgumentError(absl::StrCat("starts at cycle ", row.start_cycle, ", before the row of line ",
                                                     last->second.second, " on slice ", row.slice, " ends at ",
                                                     last->second.first));
    }
    last->second = {row.end_cycle, line};
    return absl::OkStatus();
  }

  // Residencies of a slice ascend and do not overlap: only the last one that begins in time may contain the exit.
  absl::Status CheckResident(const VmExit& row) const {
    const auto found = of_slice_.find(row.slice);
    if (found != of_slice_.end()) {
      const auto next = std::ranges::upper_bound(found->second, row.start_cycle, {},
                                                 [](const Residency* residency) { return residency->start_cycle; });
      if (next != found->second.begin() && row.end_cycle <= (*std::prev(next))->end_cycle) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("cycles ", row.start_cycle, " to ", row.end_cycle,
                                                   " are not within a residency of a VM on slice ", row.slice));
  }

  std::map<uint32_t, std::vector<const Residency*>> of_slice_;
  std::map<uint32_t, std::pair<uint64_t, size_t>> ends_;  // per slice, the last row's end and line
  std::vector<VmExit> rows_;
};

}  // namespace

absl::StatusOr<std::vector<Residency>> LoadSchedule(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseSchedule(text, path);
}

absl::StatusOr<std::vector<Residency>> ParseSchedule(const std::string& text, const std::string& path) {
  ScheduleParser parser;
  SIDEBAND_RETURN_IF_ERROR(
      ForEachCsvRow(text, path, kScheduleColumns, [&](const CsvRow& row) { return parser.Row(row); }));
  return std::move(parser).Take();
}

absl::StatusOr<std::vector<VmExit>> LoadExits(const std::string& path, const std::vector<Residency>& schedule) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseExits(text, path, schedule);
}

absl::StatusOr<std::vector<VmExit>> ParseExits(const std::string& text, const std::string& path,
                                               const std::vector<Residency>& schedule) {
  ExitParser parser(schedule);
  SIDEBAND_RETURN_IF_ERROR(ForEachCsvRow(text, path, kExitColumns, [&](const CsvRow& row) { return parser.Row(row); }));
  return std::move(parser).Take();
}

}  // namespace sideband::sim
