// SPDX-License-Identifier: Apache-2.0
//
// Reduction channel arbiter: the memory takes one commit at a time. (pipeline.md, "Channel buffer, reduction channels,
// arbiter"; patent text, paragraph 67.)
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_

#include <algorithm>
#include <cstdint>

namespace sideband::mcu {

// Not thread-safe.
class Arbiter {
 public:
  // A commit keeps the memory port for `grant_cycles`.
  explicit Arbiter(uint32_t grant_cycles) : grant_cycles_(grant_cycles) {}

  // The cycle at which a commit that asks at `cycle` is in memory. Commits are granted in the order in which they ask.
  uint64_t Grant(uint64_t cycle) {
    const uint64_t start = std::max(cycle, free_at_);
    wait_cycles_ += start - cycle;
    ++grants_;
    return free_at_ = start + grant_cycles_;
  }

  uint64_t grants() const { return grants_; }
  // How long commits had to wait for others, in total.
  uint64_t wait_cycles() const { return wait_cycles_; }

 private:
  const uint32_t grant_cycles_;
  uint64_t free_at_ = 0;
  uint64_t grants_ = 0;
  uint64_t wait_cycles_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_ARBITER_H_
