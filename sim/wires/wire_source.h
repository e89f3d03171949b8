// SPDX-License-Identifier: Apache-2.0
//
// What the counter pipeline sees of the accelerator: wires that carry one bit in every clock cycle.
//
// An event of several bits is spread over several wires (see sim/waveform/signal_map.h), so that every unit-level
// counter counts one bit and 9 bits never overflow within a period of 511 cycles. A source answers for whole ranges of
// cycles at once; asking for [a, b) and [b, c) gives the same sums as asking for [a, c).
#ifndef SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
#define SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/strings/string_view.h"

namespace sideband::sim {

// The index of a wire within its clock domain, from 0.
using WireId = uint32_t;

// Whoever counts may put off so many cycles: a source must still hold them behind the newest that it has told of.
inline constexpr uint64_t kHistoryCycles = 1024;

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
  // chunk holds its own cycles and the kHistoryCycles before them, a workload all since its context was switched in).
  virtual void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const = 0;

  // Clock domains. Residencies are in cycles of the reference clock, that of domain 0, which is the source itself
  // unless it says otherwise. A cycle of another domain belongs to the reference cycle whose edge is the first at or
  // after its own edge: both sample what was driven up to then.
  virtual const WireSource& domain(size_t /*index*/) const { return *this; }
  // How many cycles of the domain belong to reference cycles below `cycle`; the domain's cycle that is the first of
  // reference cycle `cycle`. Ascending in `cycle`. `cycle` must lie within what the source holds, or be its end.
  virtual uint64_t CyclesBefore(size_t /*domain*/, uint64_t cycle) const { return cycle; }
  // The end of the domain's cycles that the source holds up to the end of the reference cycles held, which is
  // `reference_end` (a repeated trace leaves out those after its last reference edge, so that turns are alike): those
  // at or after CyclesBefore(domain, end of the reference cycles held) belong to a reference cycle whose edge has not
  // come yet.
  virtual uint64_t CyclesHeld(size_t /*domain*/, uint64_t reference_end) const { return reference_end; }

  // The hypervisor tells which context drives the wires from `cycle` on; an empty context is the VM without one. Cycles
  // come in ascending order, and all counts of cycles below `cycle` have been taken before. A waveform, which is what
  // it is whoever is resident, ignores it.
  virtual void SwitchIn(absl::string_view /*vm*/, absl::string_view /*context*/, uint64_t /*cycle*/) {}
  // Nobody drives the wires from `cycle` on, until the next SwitchIn.
  virtual void SwitchOut(uint64_t /*cycle*/) {}
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
