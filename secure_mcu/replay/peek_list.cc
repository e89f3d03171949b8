// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/peek_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/csv_rows.h"

namespace sideband::mcu {
namespace {

enum Column { kCycle, kVm, kContext, kEvent };
constexpr sim::CsvColumn kColumns[] = {{.name = "cycle"}, {.name = "vm"}, {.name = "context"}, {.name = "event"}};

absl::Status AddPeek(const sim::CsvRow& row, std::vector<Peek>& peeks) {
  Peek peek{.vm = std::string(row.field(kVm)),
            .context = std::string(row.field(kContext)),
            .event = std::string(row.field(kEvent)),
            .line = row.line()};
  SIDEBAND_ASSIGN_OR_RETURN(peek.cycle, row.Whole(kCycle, UINT64_MAX));
  if (!peeks.empty() && peek.cycle < peeks.back().cycle) {
    return absl::InvalidArgumentError(
        absl::StrCat("cycle ", peek.cycle, " is below that of the row before, ", peeks.back().cycle));
  }
  peeks.push_back(std::move(peek));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Peek>> ParsePeeks(const std::string& text, const std::string& path) {
  std::vector<Peek> peeks;
  SIDEBAND_RETURN_IF_ERROR(
      sim::ForEachCsvRow(text, path, kColumns, [&](const sim::CsvRow& row) { return AddPeek(row, peeks); }));
  return peeks;
}

absl::StatusOr<std::vector<Peek>> LoadPeeks(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParsePeeks(text, path);
}

}  // namespace sideband::mcu
