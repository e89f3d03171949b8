// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/board_families.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "daemon/exposition/board_clock_families.h"
#include "daemon/exposition/board_link_families.h"
#include "daemon/exposition/board_memory_families.h"
#include "daemon/exposition/board_metric_families.h"
#include "daemon/exposition/board_series.h"
#include "daemon/exposition/board_state_families.h"
#include "daemon/exposition/board_thermal_families.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {
namespace {

struct Family {
  std::string name;
  MetricType type;
  std::string help;
  std::function<void(BoardSeries& out)> write;
};

std::vector<Family> SortedFamilies() {
  std::vector<Family> families;
  for (const auto& rows : {BoardThermalFamilies(), BoardClockFamilies(), BoardMemoryFamilies(), BoardLinkFamilies(),
                           BoardStateFamilies()}) {
    for (const BoardFamilyRow& row : rows) families.push_back({row.name, row.type, row.help, row.write});
  }
  for (BoardMetricFamily& family : BoardMetricFamilies()) {
    families.push_back({std::move(family.name), MetricType::kGauge, std::move(family.help),
                        std::bind_front(family.write, family.metric)});
  }
  std::ranges::sort(families, {}, &Family::name);
  return families;
}

const std::vector<Family>& Families() {
  static const std::vector<Family>& families = *new std::vector<Family>(SortedFamilies());
  return families;
}

std::vector<BoardFrame> FramesOf(MetricsFormat format, const std::vector<BoardOfDevice>& boards, absl::Duration now) {
  std::vector<BoardFrame> frames;
  for (const BoardOfDevice& board : boards) {
    if (board.reading == nullptr) continue;
    std::string labels = "{";
    AppendLabel(labels, "device", board.device);
    frames.push_back({board.reading.get(), std::move(labels), now, format});
  }
  return frames;
}

// A family without samples has no header either.
void WriteFamily(MetricsFormat format, const Family& family, const std::vector<BoardFrame>& frames, TextBuffer& out) {
  const size_t before = out.size();
  out.Append(FamilyHeader(format, family.name, family.type, family.help));
  const size_t after_header = out.size();
  for (const BoardFrame& frame : frames) {
    BoardSeries series(family.name, frame, out);
    family.write(series);
  }
  if (out.size() == after_header) out.Truncate(before);
}

}  // namespace

std::string BoardFamiliesText(MetricsFormat format, const std::vector<BoardOfDevice>& boards,
                              absl::Duration steady_now) {
  const std::vector<BoardFrame> frames = FramesOf(format, boards, steady_now);
  TextBuffer out;
  for (const Family& family : Families()) WriteFamily(format, family, frames, out);
  return std::string(out.text());
}

}  // namespace sideband::daemon
