// SPDX-License-Identifier: Apache-2.0
//
// Bounds of what was counted in windows of reference time, of the packets on standard input (second_clock.py, E8):
//   limits SHORTEST_PERIOD WANDER LAG_MAX
//   packet TRIGGER CYCLE EDGE ARRIVAL CHANGED COUNT…
//   window START END
// One line for each window: the lower and the upper bound of each event. Exit status 1: the input is wrong.
#include <cstdint>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "proto/clocks/clock_strip.h"

namespace sideband::clocks {
namespace {

Instant AtCycle(uint64_t cycle) { return Instant(Ticks(cycle) * kTicksPerCycle); }

class Windows {
 public:
  // False at a line that cannot be read.
  bool Take(const std::string& line) {
    std::istringstream in(line);
    std::string kind;
    in >> kind;
    if (kind == "limits") return TakeLimits(in);
    if (!strip_) return false;
    return kind == "packet" ? TakePacket(in) : kind == "window" && TakeWindow(in);
  }

 private:
  bool TakeLimits(std::istringstream& in) {
    ClockLimits limits{.announces = true};
    in >> limits.period_shortest >> limits.wander >> lag_max_;
    auto strip = ClockStrip::Create(limits, {});
    if (!in || !strip.ok()) return false;
    strip_ = *std::move(strip);
    return true;
  }
  bool TakePacket(std::istringstream& in) {
    uint64_t cycle = 0, arrival = 0;
    ClockPacket packet;
    in >> packet.trigger >> cycle >> packet.edge >> arrival >> packet.changed;
    packet.reference = AtCycle(cycle);
    packet.arrival = AtCycle(arrival);
    if (!in || !strip_->Add(packet).ok()) return false;
    uint64_t count = 0;
    for (size_t event = 0; in >> count; ++event) {
      if (event == counted_.size()) counted_.emplace_back();
      counted_[event].push_back({.begin = last_ > lag_max_ ? last_ - lag_max_ : 0, .end = packet.edge, .count = count});
    }
    last_ = packet.edge;
    return true;
  }
  bool TakeWindow(std::istringstream& in) const {
    uint64_t start = 0, end = 0;
    in >> start >> end;
    const auto edges = strip_->EdgesOf(AtCycle(start), AtCycle(end));
    if (!in || !edges.ok()) return false;
    for (const std::vector<CountedEdges>& packets : counted_) {
      const CountBounds bounds = CountsWithin(*edges, packets);
      std::cout << bounds.lower << ' ' << bounds.upper << ' ';
    }
    std::cout << '\n';
    return true;
  }

  std::optional<ClockStrip> strip_;
  uint64_t lag_max_ = 0;
  uint64_t last_ = 0;                               // the newest packet's edge
  std::vector<std::vector<CountedEdges>> counted_;  // by event
};

}  // namespace
}  // namespace sideband::clocks

int main() {
  sideband::clocks::Windows windows;
  for (std::string line; std::getline(std::cin, line);) {
    if (windows.Take(line)) continue;
    std::cerr << "windows: cannot read: " << line << '\n';
    return 1;
  }
  return 0;
}
