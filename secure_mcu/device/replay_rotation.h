// SPDX-License-Identifier: Apache-2.0
//
// The results of a replay with a rotation: its plan, and the numbers of each block beside its counters.
//   result.rotation = RotationOf(*chip, names);
//   block.rotation = NumbersOf(*chip, block_id);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_REPLAY_ROTATION_H_
#define SIDEBAND_SECURE_MCU_DEVICE_REPLAY_ROTATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

struct ReplayRotation {
  std::vector<std::vector<std::string>> sets;  // without the fixed
  std::vector<std::string> fixed;
  std::vector<std::string> derived;  // of the sets, those that relations determine
};

// The estimate of an event that is multiplexed.
struct ReplayEstimate {
  size_t event = 0;                  // into ReplayResult::events
  std::optional<uint64_t> estimate;  // none: its sets never ran
  std::optional<uint64_t> upper;     // none: a counter saturated
  std::optional<uint64_t> standard_error;
  uint64_t lower = 0;  // what was counted
  double coverage = 0;
};

struct ReplayNumbers {
  uint64_t enabled = 0;           // cycles
  std::vector<uint64_t> running;  // of each set
  std::vector<ReplayEstimate> events;
  bool is_estimated() const;
};

// The plan and a block's numbers, of a chip with a rotation.
ReplayRotation RotationOf(const Chip& chip, const std::vector<std::string>& names);
ReplayNumbers NumbersOf(const Chip& chip, BlockId block);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_REPLAY_ROTATION_H_
