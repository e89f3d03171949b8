// SPDX-License-Identifier: Apache-2.0
//
// Plain text in aligned columns, and the numbers and times in them.
//   Table table({{"VM", Table::Align::kLeft, Table::Fit::kMiddle}, {"COUNT", Table::Align::kRight}});
//   table.Add({"vm0", CountText(18446744073709551615u, style)});   // 18,446,744,073,709,551,615
//   out.Write(table.Render(style));
#ifndef SIDEBAND_CLIENT_CLI_TABLE_H_
#define SIDEBAND_CLIENT_CLI_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::client {

// The line length of tables where there is no terminal.
inline constexpr size_t kTableColumns = 80;

struct TableStyle {
  bool wide = false;  // all columns, in full
  bool raw = false;   // numbers in full, without groups and units
  bool cut = true;    // shortens names and notes until a line fits
  size_t columns = kTableColumns;
};

class Table {
 public:
  enum class Align { kLeft, kRight };
  // The behaviour of a column if the table is too wide, unless the style is wide.
  enum class Fit {
    kWhole,     // is never cut
    kMiddle,    // is cut in its middle, for names, which often differ at their ends
    kEnd,       // is cut at its end
    kWideOnly,  // is shown in a wide table only
    kIfAny,     // is shown in a wide table, or if any cell is not empty; is cut at its end
    kRare,      // is shown if any cell is not empty; is never cut
  };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    Fit fit = Fit::kWhole;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row with one cell per column. Control characters, which a terminal would interpret, are made visible. An
  // empty cell is shown as "-".
  void Add(std::vector<std::string> row);
  // A line of titles and a line per row. Columns are two spaces apart; lines have no trailing spaces. Widths are
  // counted in code points. If the style cuts and is not wide, cuttable columns are shortened, the widest first and
  // down to 8 (or the title's width), until a line fits the style. "…" marks a cut.
  std::string Render(const TableStyle& style) const;

 private:
  using Widths = std::vector<size_t>;  // 0: the column is hidden

  bool IsShown(size_t column, const TableStyle& style) const;
  Widths WidthsOf(const TableStyle& style) const;
  void Shrink(Widths& widths, size_t columns) const;
  std::string Line(const std::vector<std::string>& cells, const Widths& widths) const;

  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Width in code points.
size_t DisplayWidth(absl::string_view text);
// The text, or its beginning and "…" if it is wider than `width`, which is at least 1.
std::string ShortenedAtEnd(absl::string_view text, size_t width);
// The same, cut in the middle, for names.
std::string ShortenedInMiddle(absl::string_view text, size_t width);

// Fields two spaces apart, in lines that fit the style unless it is wide or a single field is longer.
// Lines after the first are indented by two. Ends with a line break.
std::string WrappedFields(const std::vector<std::string>& fields, const TableStyle& style);

// Digits in groups of three; without groups if the style is raw.
std::string CountText(uint64_t count, const TableStyle& style);

// "1 error", "2 errors". `thing` is in the singular and takes an s.
std::string PluralText(uint64_t count, absl::string_view thing);

// Two decimals, a space, a prefix for powers of 1000 from k to E, and the unit. If the style is raw, the number with
// one decimal and without a unit. Numbers that are not finite are formatted as by printf, with the unit.
std::string ScaledText(double value, absl::string_view unit, const TableStyle& style);

// The same with prefixes for powers of 1024, as usual for memory: "80.00 GiB".
std::string BinaryText(double value, absl::string_view unit, const TableStyle& style);

// At most three digits and a prefix, for narrow columns: "4.64G/s", "0/s".
std::string CompactText(double value, absl::string_view unit);
// "37.2%".
std::string CompactShareText(double share);

// A share from 0 to 1 in percent with one decimal: "37.2 %". If the style is raw, the share itself with six decimals.
std::string ShareText(double share, const TableStyle& style);

// The share of the time for which a number stands, in the same format. It is rounded down, so that only the whole is
// "100 %"; "?" if it is unknown (NaN).
std::string CoverageText(double coverage, const TableStyle& style);

// How far from an estimate the truth may be: half of a 95 % interval, cut to the bounds: "±5" or, where a bound cuts
// one side, "-5/+3". Empty if the error is unknown. `upper` is 2^64 - 1 if there is no bound.
struct EstimateRange {
  uint64_t value = 0;
  uint64_t standard_error = 0;
  uint64_t lower = 0;
  uint64_t upper = UINT64_MAX;
};
std::string ErrorText(const EstimateRange& range, const TableStyle& style);

// The text of a number that is an estimate: "~42". Unchanged if it is empty or if the style is raw.
std::string EstimateText(std::string text, const TableStyle& style);

// The shortest format of absl::FormatTime that is unambiguous for UTC times from `first` to `last`; if the style is
// wide, the whole one.
std::string TimeColumnFormat(absl::Time first, absl::Time last, const TableStyle& style);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_TABLE_H_
