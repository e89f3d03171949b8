// SPDX-License-Identifier: Apache-2.0
//
// The sums that a reduction channel commits to the memory blocks, and saturating addition of 64-bit counters.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "proto/mailbox/event_set.h"

namespace sideband::mcu {

// Sums per event since the channel's last commit.
struct Reduction {
  std::vector<uint64_t> counts;
  mailbox::EventSet saturated;  // events of which counts are missing; empty if there is none
  uint16_t flags = 0;           // mailbox::BlockFlag
  uint32_t trigger_id = 0;      // the newest trigger whose counts are included
};

// Adds `value` to `counter`. If the sum would wrap, saturates at 2^64 - 1 and returns false.
inline bool AddSaturating(uint64_t value, uint64_t& counter) {
  if (!__builtin_add_overflow(counter, value, &counter)) return true;
  counter = std::numeric_limits<uint64_t>::max();
  return false;
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_REDUCTION_H_
