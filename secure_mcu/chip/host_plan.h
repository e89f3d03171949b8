// SPDX-License-Identifier: Apache-2.0
//
// When the hypervisor runs on the slices: from each multiple of `every` on for `time`. Whoever is resident then makes
// an exit, and at the end an entry; a context switch in between ends the exit.
//   const HostPlan plan{.every = 1'000'000, .time = 50'000};
//   plan.IsHost(1'049'999);      // true
//   plan.NextChange(1'000'000);  // 1'050'000
#ifndef SIDEBAND_SECURE_MCU_CHIP_HOST_PLAN_H_
#define SIDEBAND_SECURE_MCU_CHIP_HOST_PLAN_H_

#include <cstdint>
#include <limits>

namespace sideband::mcu {

// Cycles of the reference clock. `time` is above 0 and below `every`; with `every` 0 the hypervisor never runs.
struct HostPlan {
  uint64_t every = 0;
  uint64_t time = 0;

  bool IsHost(uint64_t cycle) const { return every > 0 && cycle >= every && cycle % every < time; }
  // The first change after `cycle`.
  uint64_t NextChange(uint64_t cycle) const {
    if (every == 0) return std::numeric_limits<uint64_t>::max();
    const uint64_t turn = cycle - cycle % every;
    return IsHost(cycle) ? turn + time : turn + every;
  }
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_HOST_PLAN_H_
