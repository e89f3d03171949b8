// SPDX-License-Identifier: Apache-2.0
//
// The wires of a unit whose work is independent of the resident (PCIe, NVLink, memory controller): the cycles of its
// workload are the cycles of the clock.
//   const SteadyWorkload wires(std::move(workload));
//   wires.AddCounts({0, 511}, ids, sums);
// With clocks, the cycles of its workload in each domain are those of the domain's clock.
#ifndef SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_
#define SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/workload.h"

namespace sideband::sim {

// Context switches have no effect. Not thread-safe.
class SteadyWorkload final : public WireSource {
 public:
  explicit SteadyWorkload(Workload workload, LocalClocks clocks = {})
      : workload_(std::move(workload)), clocks_(std::move(clocks)) {}

  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    workload_.AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const override {
    workload_.AddConsecutiveCounts(workload_.Locate(range), first, sums);
  }

  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return clocks_.CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return clocks_.CyclesBefore(domain, end); }

  // Like LocalClocks::Step, after all cycles that have been counted.
  void StepClock(size_t domain, Instant at, uint64_t hz) { clocks_.Step(domain, at, hz); }

  // Whether the wire is 1 in a cycle.
  bool Bit(WireId wire, uint64_t cycle) const { return workload_.Bit(wire, cycle); }

 private:
  const Workload workload_;
  LocalClocks clocks_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_STEADY_WORKLOAD_H_
