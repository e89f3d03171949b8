// SPDX-License-Identifier: Apache-2.0
//
// CSV files whose first row names the columns, in any order; unknown columns are ignored. Fields may be quoted (RFC
// 4180, section 2). Blank lines, the carriage returns of CRLF and a byte order mark are ignored.
//   constexpr CsvColumn kColumns[] = {{.name = "cycle"}, {.name = "slice", .otherwise = "0"}};
//   SIDEBAND_RETURN_IF_ERROR(ForEachCsvRow(text, path, kColumns, [&](const CsvRow& row) -> absl::Status {
//     SIDEBAND_ASSIGN_OR_RETURN(const uint64_t cycle, row.Whole(0, UINT64_MAX));
//     return Use(cycle, row.field(1));
//   }));
#ifndef SIDEBAND_SIM_WAVEFORM_CSV_ROWS_H_
#define SIDEBAND_SIM_WAVEFORM_CSV_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::sim {

struct CsvColumn {
  absl::string_view name;
  std::optional<absl::string_view> otherwise = std::nullopt;  // the field where the column is absent; nullopt: required
};

// A row of a file; valid during the call that gets it.
class CsvRow {
 public:
  CsvRow(std::span<const CsvColumn> columns, std::vector<std::string> fields, size_t line)
      : columns_(columns), fields_(std::move(fields)), line_(line) {}

  // The field of a column, without its quotes and white space around it.
  absl::string_view field(size_t column) const { return fields_[column]; }
  // INVALID_ARGUMENT without a position where the field is not a decimal number up to `high`.
  absl::StatusOr<uint64_t> Whole(size_t column, uint64_t high) const;
  // INVALID_ARGUMENT without a position where the field is longer than `size_max` or not printable ASCII.
  absl::Status CheckName(size_t column, size_t size_max) const;
  // The row's first line.
  size_t line() const { return line_; }

 private:
  const std::span<const CsvColumn> columns_;
  const std::vector<std::string> fields_;  // in the order of columns_
  const size_t line_;
};

// Calls `use` for every row after the first. Every error, also one that `use` returns, is "FILE:LINE: description".
absl::Status ForEachCsvRow(absl::string_view text, const std::string& path, std::span<const CsvColumn> columns,
                           const std::function<absl::Status(const CsvRow&)>& use);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_CSV_ROWS_H_
