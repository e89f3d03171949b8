// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_chunk.h"

namespace sideband::sim {

TraceChunk::TraceChunk(const std::vector<const PackedWires*>& windows) {
  for (const PackedWires* window : windows) clocks_.push_back({.window = window, .before = {}});
}

uint64_t TraceChunk::CyclesBefore(size_t domain, uint64_t cycle) const {
  if (domain == 0) return cycle;
  const Clock& clock = clocks_[domain];
  if (cycle == range().begin) return clock.before_begin;
  return clock.window->range().begin + clock.before[cycle - range().begin - 1];
}

uint64_t TraceChunk::CyclesHeld(size_t domain, uint64_t /*reference_end*/) const {
  return clocks_[domain].window->range().end;
}

void TraceChunk::Begin() {
  for (size_t domain = 1; domain < clocks_.size(); ++domain) {
    Clock& clock = clocks_[domain];
    clock.before_begin = CyclesBefore(domain, range().end);
    clock.before.clear();
  }
}

}  // namespace sideband::sim
