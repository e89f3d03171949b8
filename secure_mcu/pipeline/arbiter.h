// SPDX-License-Identifier: Apache-2.0
//
// Reduction channel arbiter: serialises commits, since the memory accepts one at a time. (pipeline.md, "Channel buffer,
// reduction channels, arbiter"; patent text, paragraph 67.)
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_

#include <algorithm>
#include <cstdint>

namespace sideband::mcu {

// Not thread-safe.
class Arbiter {
 public:
  // Each commit occupies the memory port for `grant_cycles`.
  explicit Arbiter(uint32_t grant_cycles) : grant_cycles_(grant_cycles) {}

  // Requests the memory port at `cycle` and returns the cycle at which the commit is in memory. Requests are granted in
  // call order.
  uint64_t Grant(uint64_t cycle) {
    const uint64_t start = std::max(cycle, free_at_);
    wait_cycles_ += start - cycle;
    ++grants_;
    return free_at_ = start + grant_cycles_;
  }

  uint64_t grants() const { return grants_; }
  // Total cycles that commits have waited for earlier commits.
  uint64_t wait_cycles() const { return wait_cycles_; }

 private:
  const uint32_t grant_cycles_;
  uint64_t free_at_ = 0;
  uint64_t grants_ = 0;
  uint64_t wait_cycles_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_
