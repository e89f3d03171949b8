// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/unit_clocks.h"

#include <algorithm>

#include "absl/numeric/int128.h"

namespace sideband::mcu {

size_t UnitClocks::Add(size_t wiring, uint32_t domain) {
  const auto is_same = [&](const Clock& clock) { return clock.wiring == wiring && clock.domain == domain; };
  const auto found = std::ranges::find_if(clocks_, is_same);
  if (found != clocks_.end()) return static_cast<size_t>(found - clocks_.begin());
  clocks_.push_back({.wiring = wiring, .domain = domain});
  return clocks_.size() - 1;
}

void UnitClocks::Attach(size_t wiring, const sim::WireSource& wires, uint64_t now) {
  wires_[wiring] = &wires;
  now_ = now;
  for (Clock& clock : clocks_) {
    if (clock.wiring == wiring) clock.edges = clock.edges_then = EdgesBefore(clock, clock.asked = now);
  }
}

void UnitClocks::AdvanceTo(uint64_t cycle) {
  now_ = cycle;
  for (Clock& clock : clocks_) clock.edges = Remembered(clock, cycle);
}

void UnitClocks::Forget() {
  for (Clock& clock : clocks_) {
    clock.asked = now_;
    clock.edges_then = clock.edges;
  }
}

uint64_t UnitClocks::EdgesBefore(const Clock& clock, uint64_t cycle) const {
  const sim::WireSource* const wires = wires_[clock.wiring];
  return clock.domain == 0 || wires == nullptr ? cycle : wires->CyclesBefore(clock.domain, cycle);
}

uint64_t UnitClocks::Remembered(Clock& clock, uint64_t cycle) const {
  if (clock.asked != cycle) {
    clock.asked = cycle;
    clock.edges_then = EdgesBefore(clock, cycle);
  }
  return clock.edges_then;
}

uint64_t UnitClocks::FirstAfter(size_t number, uint64_t edges, uint64_t end) const {
  Clock& clock = clocks_[number];
  if (clock.domain == 0) return std::min(end, now_ + edges);
  const uint64_t target = clock.edges + edges;
  uint64_t low = now_, low_edges = clock.edges, high = end, high_edges = Remembered(clock, end);
  if (high_edges < target) return end;
  // Steps of a steady clock's own length meet the cycle at once; halves bound the search for any other clock.
  for (bool halve = false; high - low > 1; halve = !halve) {
    const auto share = absl::Uint128Low64(absl::uint128(high - low) * (target - low_edges) / (high_edges - low_edges));
    const uint64_t probe = halve ? low + (high - low) / 2 : std::clamp(low + share, low + 1, high - 1);
    const uint64_t then = EdgesBefore(clock, probe);
    if (then >= target) {
      high = probe;
      high_edges = then;
    } else {
      low = probe;
      low_edges = then;
    }
  }
  return high;
}

}  // namespace sideband::mcu
