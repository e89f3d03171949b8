// SPDX-License-Identifier: Apache-2.0
//
// What the counter pipeline sees of the accelerator: wires that carry one bit in every clock cycle.
//
// An event of several bits is spread over several wires (see sim/waveform/signal_map.h), so that every unit-level
// counter counts one bit and 9 bits never overflow within a period of 511 cycles. A source answers for whole ranges of
// cycles at once; asking for [a, b) and [b, c) gives the same sums as asking for [a, c).
#ifndef SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
#define SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_

#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace sideband::sim {

// The index of a wire within its source, from 0.
using WireId = uint32_t;

// A half-open range of clock cycles; cycle k is the k-th rising edge of the domain's clock, from 0.
struct CycleRange {
  uint64_t begin;
  uint64_t end;

  uint64_t size() const { return end - begin; }
  bool operator==(const CycleRange&) const = default;
};

class WireSource {
 public:
  virtual ~WireSource() = default;

  // Adds to sums[i] the number of cycles of `range` in which wire `wires[i]` is 1. Both spans have one size. Every wire
  // must be below the source's number of wires, and `range` must lie within what the source says it holds (a waveform
  // chunk holds few thousand cycles, a workload any).
  virtual void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const = 0;

  // The hypervisor tells which context drives the wires from `cycle` on; an empty context is the VM without one. Cycles
  // come in ascending order, and all counts of cycles below `cycle` have been taken before. A waveform, which is what
  // it is whoever is resident, ignores it.
  virtual void SwitchIn(absl::string_view /*vm*/, absl::string_view /*context*/, uint64_t /*cycle*/) {}
  // Nobody drives the wires from `cycle` on, until the next SwitchIn.
  virtual void SwitchOut(uint64_t /*cycle*/) {}
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
