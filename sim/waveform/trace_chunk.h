// SPDX-License-Identifier: Apache-2.0
//
// A part of a trace: a window of cycles for each clock domain, and the assignment of these cycles to cycles of the
// reference clock, domain 0.
//   chunk.AddCounts(chunk.range(), wires, sums);                                  // wires of domain 0
//   const CycleRange cycles = {chunk.CyclesBefore(1, 10), chunk.CyclesBefore(1, 20)};
//   chunk.domain(1).AddCounts(cycles, wires, sums);                               // while the reference ran [10, 20)
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_CHUNK_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Any number of threads may count while the chunk does not change.
class TraceChunk final : public WireSource {
 public:
  // One window per domain, all empty and at cycle 0. The windows must outlive the chunk.
  explicit TraceChunk(const std::vector<const PackedWires*>& windows);

  // Cycles of the reference clock. Empty if another domain's window filled up, or the trace ended, before a reference
  // cycle.
  const CycleRange& range() const { return clocks_[0].window->range(); }
  size_t domain_count() const { return clocks_.size(); }

  // In domain 0. Cycles outside its window count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    clocks_[0].window->AddCounts(range, wires, sums);
  }
  const PackedWires& domain(size_t index) const override { return *clocks_[index].window; }
  // Valid from the begin of range() to its end. The result at the begin may lie before the domain's window: cycles
  // since the last reference edge were in the previous chunk.
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override;

  // For the writer of the windows. The edges of reference cycles not placed yet, up to the first `reference_cycles` of
  // the chunk, lie at or after the first `cycles` edges of the domain, and before all later edges.
  void Place(size_t domain, uint64_t reference_cycles, uint64_t cycles) {
    clocks_[domain].before.resize(reference_cycles, static_cast<uint32_t>(cycles));
  }
  // Call before the windows continue behind their ends.
  void Begin();

 private:
  struct Clock {
    const PackedWires* window;
    uint64_t before_begin = 0;     // CyclesBefore(range().begin)
    std::vector<uint32_t> before;  // per reference cycle, the domain's cycles from its window's begin to the edge
  };

  std::vector<Clock> clocks_;  // per domain; for the first only `window` is used
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_CHUNK_H_
