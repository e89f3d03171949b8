// SPDX-License-Identifier: Apache-2.0
#include "client/top/layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/table.h"
#include "client/top/model.h"
#include "proto/base/text.h"

namespace sideband::client::top {
namespace {

constexpr size_t kFixedLines = 4;  // title, column titles, detail, keys
constexpr int kIndent = 2;
constexpr std::string_view kMinuteTitle = "LAST MINUTE";

struct Widths {
  size_t name = 24, state = 12, reads = 5, bar = 10, share = 6, rate = 8, spark = 9;
};

// The columns beyond kSmallest go to the history, then to the names, then to the bar.
Widths WidthsOf(size_t columns) {
  Widths widths;
  size_t left = columns - kSmallest.columns;
  const auto give = [&left](size_t& width, size_t most) {
    const size_t given = std::min(left, most - width);
    width += given;
    left -= given;
  };
  give(widths.name, 36);
  give(widths.spark, Minute::kSeconds);
  give(widths.bar, 40);
  give(widths.name, 80);
  return widths;
}

// Pads or shortens `text` to `width` cells. Wide characters count as one: names rarely have them.
std::string Left(const std::string& text, size_t width) {
  const std::string fitted = ShortenedAtEnd(text, width);
  return fitted + std::string(width - DisplayWidth(fitted), ' ');
}

std::string Right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, DisplayWidth(text)), ' ') + text;
}

// "~37.2%"; "~100%", to fit the column.
std::string Marked(const Row& row, std::string text) {
  if (!row.is_estimate) return text;
  return text == "100.0%" ? "~100%" : absl::StrCat("~", text);
}

std::string ReadsText(const Row& row) { return row.reads ? absl::StrFormat("%.0f%%", *row.reads * 100) : ""; }

std::string UtilText(const Row& row) { return row.share ? Marked(row, CompactShareText(*row.share)) : ""; }

std::string RateText(const Row& row) { return row.rate ? Marked(row, CompactText(*row.rate, "/s")) : ""; }

// Names often differ at their ends.
std::string Name(const std::string& text, size_t width) { return Left(ShortenedInMiddle(text, width), width); }

// Without Unicode, other characters are '?', and a mark of a cut is '~'.
std::string Ascii(const std::string& text) {
  std::string ascii;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      ascii += text[i];
    } else if ((byte & 0xC0) != 0x80) {
      ascii += text.compare(i, 3, "…") == 0 ? '~' : '?';
    }
  }
  return ascii;
}

Style StyleOf(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return Style::kPlain;
    case Tone::kGood:
      return Style::kGood;
    case Tone::kWarning:
      return Style::kWarning;
    case Tone::kBad:
      return Style::kBad;
  }
  return Style::kPlain;
}

std::string SortText(const RowOptions& options) {
  constexpr const char* kTexts[] = {"name", "utilisation", "rate"};
  return absl::StrCat("by ", kTexts[static_cast<int>(options.sort)], options.is_reversed ? " (reversed)" : "");
}

class Layout {
 public:
  Layout(const Frame& frame, const TerminalSize& size) : frame_(frame), size_(size) {}

  Screen Everything() const {
    Screen screen = {Title(), ColumnTitles()};
    const size_t page = PageOf(size_);
    const size_t first = frame_.view.first();
    for (size_t i = first; i < std::min(first + page, frame_.rows.size()); ++i) screen.push_back(RowLine(i));
    if (frame_.rows.empty()) screen.push_back({{Nothing()}});
    while (screen.size() + 2 < size_.rows) screen.emplace_back();
    screen.push_back(Detail());
    screen.push_back(
        {{Left("q quit  ? help  Enter open  s sort  r reverse  e/E event  / filter  p pause", size_.columns),
          Style::kHeading}});
    return screen;
  }

  Screen Help() const {
    constexpr const char* kHelp[] = {
        "Devices, their VMs, the VMs' contexts, and the events of each.",
        "",
        "  Up, Down, k, j, PgUp, PgDn, Home, End   move",
        "  Enter, Space                            open or close the row",
        "  Right, l / Left, h                      open / close, or go to the row above",
        "  s      sort by name, utilisation, rate of the event",
        "  r      reverse the order",
        "  e, E   the next, the previous event for the columns",
        "  /      filter: a part of a name, or a pattern with * and ?; Esc removes it",
        "  p      pause: the screen stays as it is, the data is still received",
        "  q, Ctrl-C   quit        Ctrl-Z   suspend        Ctrl-L   redraw",
        "",
        "UTIL   the share of the capacity that the event used: of the slice for a VM,",
        "       of its time on the slice for a context",
        "READS  the share of the last minute's intervals in which the bus brought a",
        "       snapshot of the device; - if it has no counters, or with --interval",
        "MINUTE        a cell a second, the newest at the right: utilisations from 0 to",
        "       100 %, rates from 0 to their maximum",
    };
    Screen screen = {Title()};
    for (const char* text : kHelp) screen.push_back({{text}});
    while (screen.size() + 1 < size_.rows) screen.emplace_back();
    screen.push_back({{Left("any key: back", size_.columns), Style::kHeading}});
    return screen;
  }

 private:
  std::string Nothing() const {
    return frame_.view.options().filter.empty()
               ? "There is no device that this caller may see, or it has not answered yet."
               : "Nothing matches the filter; Esc removes it.";
  }

  Line Title() const {
    std::string title = absl::StrCat("sideband top  ", frame_.peer, "  ", SortText(frame_.view.options()));
    if (!frame_.view.options().filter.empty()) {
      absl::StrAppend(&title, "  filter ", Visible(frame_.view.options().filter));
    }
    const std::string end = absl::StrCat(frame_.view.is_paused() ? "PAUSED at " : "", frame_.time);
    return {{Left(title, size_.columns - DisplayWidth(end) - 1) + " " + end, Style::kHeading}};
  }

  Line ColumnTitles() const {
    const Widths widths = WidthsOf(size_.columns);
    std::string titles = absl::StrCat(Left("NAME", widths.name), " ", Left("STATE", widths.state), " ");
    absl::StrAppend(&titles, Right("READS", widths.reads), " ");
    const size_t util = widths.bar + 1 + widths.share + 1 + widths.rate;
    absl::StrAppend(&titles, Name(absl::StrCat("UTIL ", frame_.event), util), " ");
    absl::StrAppend(&titles,
                    Left(std::string(widths.spark < kMinuteTitle.size() ? "MINUTE" : kMinuteTitle), widths.spark));
    return {{Left(titles, size_.columns), Style::kHeading}};
  }

  const char* Marker(const Row& row) const {
    if (!row.has_children) return "  ";
    if (row.is_open) return frame_.is_unicode ? "▾ " : "- ";
    return frame_.is_unicode ? "▸ " : "+ ";
  }

  Line RowLine(size_t index) const {
    const Row& row = frame_.rows[index];
    const Widths widths = WidthsOf(size_.columns);
    const std::string indent(static_cast<size_t>(kIndent * row.depth), ' ');
    const std::string start = absl::StrCat(indent, Marker(row));
    const Style style = index == frame_.view.cursor() ? Style::kSelected : Style::kPlain;
    Line line;
    if (row.key.kind == RowKind::kEvent) {
      // Its name is long, and it has neither a state nor reads.
      const size_t width = widths.name + 1 + widths.state + 1 + widths.reads;
      line.push_back({absl::StrCat(start, Name(Visible(row.name), width - DisplayWidth(start)), " "), style});
    } else {
      const std::string name = Name(Visible(row.name), widths.name - DisplayWidth(start));
      line.push_back({absl::StrCat(start, name, " "), style});
      line.push_back({Left(row.state, widths.state) + " ", StyleOf(row.tone)});
      line.push_back({Right(row.has_no_reads ? "-" : ReadsText(row), widths.reads) + " "});
    }
    line.push_back({BarOf(row, widths.bar) + " ", Style::kBar});
    line.push_back({Right(UtilText(row), widths.share) + " "});
    line.push_back({Right(RateText(row), widths.rate) + " "});
    line.push_back({SparkText(row.minute, row.is_share_minute, widths.spark, frame_.is_unicode), Style::kBar});
    return line;
  }

  std::string BarOf(const Row& row, size_t width) const {
    return row.share ? BarText(*row.share, width, frame_.is_unicode) : std::string(width, ' ');
  }

  // The most urgent: what is typed, the connection, the selected row.
  Line Detail() const {
    if (frame_.view.is_typing()) return {{Left(absl::StrCat("filter: ", frame_.view.typed(), "_"), size_.columns)}};
    if (!frame_.connection.empty()) return {{Left(Visible(frame_.connection), size_.columns), Style::kBad}};
    const size_t cursor = frame_.view.cursor();
    const std::string detail = cursor < frame_.rows.size() ? frame_.rows[cursor].detail : "";
    return {{Left(Visible(detail), size_.columns)}};
  }

  const Frame& frame_;
  const TerminalSize size_;
};

}  // namespace

size_t PageOf(const TerminalSize& size) { return size.rows > kFixedLines ? size.rows - kFixedLines : 1; }

Screen Lay(const Frame& frame, const TerminalSize& size) {
  if (size.rows < kSmallest.rows || size.columns < kSmallest.columns) {
    const std::string text = absl::StrFormat("%u x %u is too small: sideband top needs %u x %u (q quits)", size.columns,
                                             size.rows, kSmallest.columns, kSmallest.rows);
    return {{{ShortenedAtEnd(text, std::max<size_t>(size.columns, 1))}}};
  }
  const Layout layout(frame, size);
  Screen screen = frame.view.is_help() ? layout.Help() : layout.Everything();
  if (frame.is_unicode) return screen;
  for (Line& line : screen) {
    for (Span& span : line) span.text = Ascii(span.text);
  }
  return screen;
}

std::string BatchText(const Frame& frame, const TableStyle& style) {
  Table table({{"HOST", Table::Align::kLeft, Table::Fit::kRare},
               {"NAME", Table::Align::kLeft, Table::Fit::kMiddle},
               {"STATE"},
               {"READS", Table::Align::kRight},
               {"UTIL", Table::Align::kRight},
               {"RATE", Table::Align::kRight}});
  for (const Row& row : frame.rows) {
    if (row.key.kind == RowKind::kEvents || row.key.kind == RowKind::kHost) continue;
    const int depth = row.key.host.empty() ? row.depth : row.depth - 1;
    const std::string indent(static_cast<size_t>(kIndent * depth), ' ');
    table.Add({row.key.host, indent + row.name, row.state, ReadsText(row), UtilText(row), RateText(row)});
  }
  std::string title = Visible(absl::StrCat("sideband top  ", frame.peer, "  ", frame.time, "  ", frame.event)) + "\n";
  if (!frame.connection.empty()) absl::StrAppend(&title, Visible(frame.connection), "\n");
  return title + table.Render(style);
}

std::string BarText(double share, size_t width, bool is_unicode) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto eighths = static_cast<size_t>(std::lround(cells * 8));
  const size_t full = is_unicode ? eighths / 8 : static_cast<size_t>(std::lround(cells));
  std::string bar;
  for (size_t i = 0; i < full; ++i) bar += is_unicode ? "█" : "#";
  if (is_unicode && eighths % 8 != 0) bar += kEighths[eighths % 8];
  for (size_t i = DisplayWidth(bar); i < width; ++i) bar += is_unicode ? "·" : ".";
  return bar;
}

std::string SparkText(const std::vector<double>& values, bool is_share, size_t width, bool is_unicode) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr const char* kAscii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  constexpr double kSteps = std::size(kBlocks);
  double top = is_share ? 1 : 0;
  for (const double value : values) top = std::isnan(value) ? top : std::max(top, value);
  std::string spark;
  for (size_t i = values.size() - std::min(values.size(), width); i < values.size(); ++i) {
    const double part = top > 0 ? values[i] / top : 0;
    const auto step = static_cast<size_t>(std::isnan(values[i]) ? 0 : std::clamp(part * kSteps, 0.0, kSteps - 1));
    spark += std::isnan(values[i]) ? " " : is_unicode ? kBlocks[step] : kAscii[step];
  }
  return spark + std::string(width - DisplayWidth(spark), ' ');
}

}  // namespace sideband::client::top
