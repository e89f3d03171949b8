// SPDX-License-Identifier: Apache-2.0
//
// Plain text in aligned columns.
//   Table table({{"VM"}, {"COUNT", Table::Align::kRight}});
//   table.Add({"vm0", "12"});
//   out.Write(table.Render());
#ifndef SIDEBAND_CLIENT_CLI_TABLE_H_
#define SIDEBAND_CLIENT_CLI_TABLE_H_

#include <string>
#include <vector>

namespace sideband::client {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column. Control characters, which a terminal would obey, are made visible; an empty cell shows as "-".
  void Add(std::vector<std::string> row);
  // A line of titles and a line per row, columns two spaces apart, without spaces at a line's end. Widths are counted
  // in code points.
  std::string Render() const;

 private:
  std::string Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const;

  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_TABLE_H_
