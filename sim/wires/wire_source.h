// SPDX-License-Identifier: Apache-2.0
//
// The counter pipeline's view of the accelerator: wires that carry one bit in every clock cycle.
//
// An event of several bits is spread over several wires (see sim/waveform/signal_map.h), so every unit-level counter
// counts one bit, and 9 bits never overflow within a period of 511 cycles. A source counts whole ranges of cycles: the
// counts of [a, b) and [b, c) add up to the count of [a, c).
#ifndef SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
#define SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "absl/strings/string_view.h"

namespace sideband::sim {

// The index of a wire within its clock domain, from 0.
using WireId = uint32_t;

// A caller may delay its counts by this many cycles: a source must keep that many cycles before its newest cycle.
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

  // Adds to sums[i] the number of cycles of `range` in which wire `wires[i]` is 1. Both spans have the same size. Every
  // wire must be below the source's number of wires, and `range` must lie within the cycles that the source holds (a
  // waveform chunk: its own cycles and the kHistoryCycles before them; a workload: all since its context was switched
  // in).
  virtual void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const = 0;
  // The same for the wires first, first + 1, …: one per sum. A source for which that is less work overrides it.
  virtual void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
    std::array<WireId, 64> wires;
    while (!sums.empty()) {
      const size_t count = std::min(sums.size(), wires.size());
      std::iota(wires.begin(), wires.end(), first);
      AddCounts(range, {wires.data(), count}, sums.first(count));
      first += static_cast<WireId>(count);
      sums = sums.subspan(count);
    }
  }

  // Adds the counts of those cycles of the range in which the hypervisor drives the wires (`is_host`), or in which it
  // does not. Returns false, and adds nothing, if the source does not tell them apart, or not in less work than range
  // by range.
  virtual bool AddModeCounts(CycleRange /*range*/, bool /*is_host*/, std::span<const WireId> /*wires*/,
                             std::span<uint64_t> /*sums*/) const {
    return false;
  }
  virtual bool AddConsecutiveModeCounts(CycleRange /*range*/, bool /*is_host*/, WireId /*first*/,
                                        std::span<uint64_t> /*sums*/) const {
    return false;
  }

  // The source of a clock domain. Residencies are in cycles of the reference clock, domain 0, which by default is the
  // source itself. A cycle of another domain belongs to the first reference cycle whose edge is at or after its own
  // edge: both sample the values driven up to then.
  virtual const WireSource& domain(size_t /*index*/) const { return *this; }
  // The number of cycles of the domain that belong to reference cycles below `cycle`, which is also the domain's first
  // cycle in reference cycle `cycle`. Ascending in `cycle`, which must lie within the source's cycles or be their end.
  virtual uint64_t CyclesBefore(size_t /*domain*/, uint64_t cycle) const { return cycle; }
  // The end of the domain's cycles that the source holds, where `reference_end` is the end of the reference cycles that
  // it holds. Cycles from CyclesBefore(domain, reference_end) on belong to a reference cycle whose edge has not
  // occurred yet. A repeated trace drops the cycles after its last reference edge, so that all turns are equal.
  virtual uint64_t CyclesHeld(size_t /*domain*/, uint64_t reference_end) const { return reference_end; }

  // Notifies the source that this context drives the wires from `cycle` on; an empty context is the VM without a
  // context. Cycles are ascending, and all counts of cycles below `cycle` have been taken before the call. A waveform
  // ignores it, since its wires do not depend on the resident.
  virtual void SwitchIn(absl::string_view /*vm*/, absl::string_view /*context*/, uint64_t /*cycle*/) {}
  // The hypervisor drives the wires from `cycle` on, while the resident's work stands still; or the resident does
  // again. May be told ahead, in ascending order: the cycles below `now` have been counted, but for the newest
  // kHistoryCycles. SwitchIn begins with the resident's work.
  virtual void SwitchMode(bool /*is_host*/, uint64_t /*cycle*/, uint64_t /*now*/) {}
  // No context drives the wires from `cycle` on, until the next SwitchIn.
  virtual void SwitchOut(uint64_t /*cycle*/) {}
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_WIRE_SOURCE_H_
