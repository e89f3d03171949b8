// SPDX-License-Identifier: Apache-2.0
//
// The wires of a unit whose work is independent of the resident (PCIe, NVLink, memory controller): the cycles of its
// workload are the cycles of the clock.
//   const SteadyWorkload wires(std::move(workload));
//   wires.AddCounts({0, 511}, ids, sums);
#ifndef SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_
#define SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_

#include <span>
#include <utility>

#include "sim/wires/wire_source.h"
#include "sim/workload/workload.h"

namespace sideband::sim {

// Immutable: context switches have no effect.
class SteadyWorkload final : public WireSource {
 public:
  explicit SteadyWorkload(Workload workload) : workload_(std::move(workload)) {}

  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    workload_.AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override {
    workload_.AddConsecutiveCounts(workload_.Locate(range), first, sums);
  }

  // Whether the wire is 1 in a cycle.
  bool Bit(WireId wire, uint64_t cycle) const { return workload_.Bit(wire, cycle); }

 private:
  const Workload workload_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_
