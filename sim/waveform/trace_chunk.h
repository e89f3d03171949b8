// SPDX-License-Identifier: Apache-2.0
//
// A part of a trace: for each of its clock domains a window of cycles, and which of them belong to which cycle of the
// reference clock, that of domain 0.
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

// Counting may be done from many threads while nobody changes the chunk.
class TraceChunk final : public WireSource {
 public:
  // One window per domain, all empty and at cycle 0; they must outlive the chunk.
  explicit TraceChunk(const std::vector<const PackedWires*>& windows);

  // Cycles of the reference clock. Empty where another domain's window was full, or the trace ended, before it had one.
  const CycleRange& range() const { return clocks_[0].window->range(); }
  size_t domain_count() const { return clocks_.size(); }

  // In domain 0; cycles outside its window count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    clocks_[0].window->AddCounts(range, wires, sums);
  }
  const PackedWires& domain(size_t index) const override { return *clocks_[index].window; }
  // From the begin of range() to its end. At the begin the answer may lie before the domain's window: what has come
  // since the last reference edge was held by the chunk before.
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override;

  // For whoever fills the windows. Reference cycles not placed yet, up to the first `reference_cycles` of the chunk,
  // have their edges at or after those of the first `cycles` of the domain's, and before those of the rest.
  void Place(size_t domain, uint64_t reference_cycles, uint64_t cycles) {
    clocks_[domain].before.resize(reference_cycles, static_cast<uint32_t>(cycles));
  }
  // The windows are about to go on behind their ends.
  void Begin();

 private:
  struct Clock {
    const PackedWires* window;
    uint64_t before_begin = 0;     // CyclesBefore(range().begin)
    std::vector<uint32_t> before;  // per reference cycle, the domain's cycles from its window's begin up to the edge
  };

  std::vector<Clock> clocks_;  // per domain; of the first only the window is used
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_CHUNK_H_
