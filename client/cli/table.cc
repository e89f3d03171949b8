// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kCutWidthMin = 8;
constexpr size_t kNotesWidthMin = 12;  // room for "restarted,…"
constexpr char kNothing[] = "-";
constexpr char kCut[] = "…";

bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

// The byte offset of code point number `point`; the text's size if the text is shorter.
size_t PlaceOf(absl::string_view text, size_t point) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && point-- == 0) break;
  }
  return at;
}

// Shortens `text` to `width` code points, `tail` of them from its end, with "…" at the cut.
std::string Cut(absl::string_view text, size_t width, size_t tail) {
  const absl::string_view head = text.substr(0, PlaceOf(text, width - 1 - tail));
  return absl::StrCat(head, kCut, text.substr(PlaceOf(text, DisplayWidth(text) - tail)));
}

std::string Fitted(const std::string& text, size_t width, Table::Fit fit) {
  return fit == Table::Fit::kMiddle ? ShortenedInMiddle(text, width) : ShortenedAtEnd(text, width);
}

std::string Padded(const std::string& text, size_t width, Table::Align align) {
  const std::string spaces(width - DisplayWidth(text), ' ');
  return align == Table::Align::kLeft ? text + spaces : spaces + text;
}

bool IsCuttable(Table::Fit fit) {
  return fit == Table::Fit::kMiddle || fit == Table::Fit::kEnd || fit == Table::Fit::kIfAny;
}

size_t LineWidth(const std::vector<size_t>& widths) {
  size_t line = 0;
  for (const size_t width : widths) line += width == 0 ? 0 : width + kGap;
  return line == 0 ? 0 : line - kGap;
}

struct Scaled {
  double value;
  absl::string_view prefix;
};

constexpr absl::string_view kDecimal[] = {"", "k", "M", "G", "T", "P", "E"};
constexpr absl::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

// Divides by powers of `base` until the value is below `rounds_up`, which its format would round to the base.
Scaled Scale(double value, double rounds_up, double base = 1000,
             std::span<const absl::string_view> prefixes = kDecimal) {
  size_t prefix = 0;
  while (std::abs(value) >= rounds_up && std::isfinite(value) && prefix + 1 < prefixes.size()) {
    value /= base;
    ++prefix;
  }
  return {value, prefixes[prefix]};
}

int64_t DayOf(absl::Time time) { return absl::ToUnixSeconds(time) / (24 * 3600); }

}  // namespace

size_t DisplayWidth(absl::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, IsContinuation));
}

std::string ShortenedAtEnd(absl::string_view text, size_t width) {
  return DisplayWidth(text) <= width ? std::string(text) : Cut(text, width, 0);
}

std::string ShortenedInMiddle(absl::string_view text, size_t width) {
  return DisplayWidth(text) <= width ? std::string(text) : Cut(text, width, (width - 1) / 2);
}

void Table::Add(std::vector<std::string> row) {
  row.resize(columns_.size());
  for (std::string& cell : row) cell = cell.empty() ? kNothing : Visible(cell);
  rows_.push_back(std::move(row));
}

bool Table::IsShown(size_t column, const TableStyle& style) const {
  const Fit fit = columns_[column].fit;
  if (fit == Fit::kWideOnly) return style.wide;
  if ((fit != Fit::kIfAny || style.wide) && fit != Fit::kRare) return true;
  return std::ranges::any_of(rows_, [&](const auto& row) { return row[column] != kNothing; });
}

Table::Widths Table::WidthsOf(const TableStyle& style) const {
  Widths widths(columns_.size(), 0);
  for (size_t i = 0; i < widths.size(); ++i) {
    if (!IsShown(i, style)) continue;
    widths[i] = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  if (style.cut && !style.wide) Shrink(widths, style.columns);
  return widths;
}

// Notes first: a name that is cut may be taken for another.
void Table::Shrink(Widths& widths, size_t columns) const {
  size_t line = LineWidth(widths);
  for (size_t i = 0; i < widths.size(); ++i) {
    if (columns_[i].fit != Fit::kIfAny) continue;
    for (; line > columns && widths[i] > kNotesWidthMin; --line) --widths[i];
  }
  for (; line > columns; --line) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const size_t least = std::max(kCutWidthMin, DisplayWidth(columns_[i].title));
      const bool may_shrink = IsCuttable(columns_[i].fit) && widths[i] > least;
      if (may_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    // No column can shrink further: the line stays too long.
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

std::string Table::Line(const std::vector<std::string>& cells, const Widths& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string cell = Fitted(cells[i], widths[i], columns_[i].fit);
    absl::StrAppend(&line, line.empty() ? "" : std::string(kGap, ' '), Padded(cell, widths[i], columns_[i].align));
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

std::string Table::Render(const TableStyle& style) const {
  const Widths widths = WidthsOf(style);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = Line(titles, widths);
  for (const auto& row : rows_) text += Line(row, widths);
  return text;
}

std::string WrappedFields(const std::vector<std::string>& fields, const TableStyle& style) {
  std::string text, line;
  for (const std::string& field : fields) {
    if (field.empty()) continue;
    if (!line.empty() && !style.wide && DisplayWidth(line) + kGap + DisplayWidth(field) > style.columns) {
      absl::StrAppend(&text, line, "\n");
      line = std::string(kGap, ' ') + field;
    } else {
      absl::StrAppend(&line, line.empty() ? "" : std::string(kGap, ' '), field);
    }
  }
  return absl::StrCat(text, line, "\n");
}

std::string CountText(uint64_t count, const TableStyle& style) {
  std::string text = absl::StrCat(count);
  if (style.raw) return text;
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string PluralText(uint64_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

std::string BinaryText(double value, absl::string_view unit, const TableStyle& style) {
  if (style.raw) return absl::StrFormat("%.1f", value);
  const Scaled scaled = Scale(value, 1023.995, 1024, kBinary);
  return absl::StrFormat("%.2f %s%s", scaled.value, scaled.prefix, unit);
}

std::string ScaledText(double value, absl::string_view unit, const TableStyle& style) {
  if (style.raw) return absl::StrFormat("%.1f", value);
  const Scaled scaled = Scale(value, 999.995);  // rounds to 1000.00 with two decimals
  return absl::StrFormat("%.2f %s%s", scaled.value, scaled.prefix, unit);
}

std::string CompactText(double value, absl::string_view unit) {
  const Scaled scaled = Scale(value, 999.5);
  const double size = std::abs(scaled.value);
  const bool is_whole = size >= 99.95 || (scaled.prefix.empty() && size == std::trunc(size));
  const int decimals = is_whole ? 0 : size >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f%s%s", decimals, scaled.value, scaled.prefix, unit);
}

std::string CompactShareText(double share) { return absl::StrFormat("%.1f%%", share * 100); }

std::string ShareText(double share, const TableStyle& style) {
  return style.raw ? absl::StrFormat("%.6f", share) : absl::StrFormat("%.1f %%", share * 100);
}

std::string CoverageText(double coverage, const TableStyle& style) {
  if (std::isnan(coverage)) return "?";
  if (style.raw) return absl::StrFormat("%.6f", std::floor(coverage * 1e6) / 1e6);
  return coverage == 1 ? "100 %" : absl::StrFormat("%.1f %%", std::floor(coverage * 1000) / 10);
}

std::string ErrorText(const EstimateRange& range, const TableStyle& style) {
  constexpr double kHalfOf95Percent = 1.96;
  const double half = std::ceil(kHalfOf95Percent * static_cast<double>(range.standard_error));
  const auto cut = [&](uint64_t room) { return half < static_cast<double>(room) ? static_cast<uint64_t>(half) : room; };
  const uint64_t below = cut(range.value - std::min(range.lower, range.value));
  const uint64_t above = cut(range.upper - std::min(range.value, range.upper));
  if (below == above) return absl::StrCat("±", CountText(below, style));
  return absl::StrCat("-", CountText(below, style), "/+", CountText(above, style));
}

std::string EstimateText(std::string text, const TableStyle& style) {
  return text.empty() || style.raw ? text : absl::StrCat("~", text);
}

std::string TimeColumnFormat(absl::Time first, absl::Time last, const TableStyle& style) {
  if (style.wide) return "%Y-%m-%dT%H:%M:%E3SZ";
  return DayOf(first) == DayOf(last) ? "%H:%M:%E3SZ" : "%m-%d %H:%M:%SZ";
}

}  // namespace sideband::client
