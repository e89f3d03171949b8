// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

size_t Width(const std::string& text) {
  return std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
}

std::string Padded(const std::string& text, size_t width, Table::Align align) {
  const std::string spaces(width - Width(text), ' ');
  return align == Table::Align::kLeft ? text + spaces : spaces + text;
}

}  // namespace

void Table::Add(std::vector<std::string> row) {
  row.resize(columns_.size());
  for (std::string& cell : row) cell = cell.empty() ? "-" : Visible(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppend(&line, i == 0 ? "" : "  ", Padded(cells[i], widths[i], columns_[i].align));
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

std::string Table::Render() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(Width(column.title));
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text = Line(titles, widths);
  for (const auto& row : rows_) text += Line(row, widths);
  return text;
}

}  // namespace sideband::client
