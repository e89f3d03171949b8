// SPDX-License-Identifier: Apache-2.0
//
// Plain text in aligned columns.
//   Table table({{"VM", Table::Align::kLeft, Table::Fit::kMiddle}, {"COUNT", Table::Align::kRight}});
//   table.Add({"vm0", "12"});
//   out.Write(table.Render(style));
#ifndef SIDEBAND_CLIENT_CLI_TABLE_H_
#define SIDEBAND_CLIENT_CLI_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_TABLE_H_
