// SPDX-License-Identifier: Apache-2.0
//
// The range of a board's clock, as SMBPBI's power hints and clock limits have it.
//   const auto range = ClockRangeMhz(device);
//   const uint32_t most_mhz = range.value_or(0) >> 16;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_CLOCK_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Complement protection of the workload's clock. A board lowers it by all heat, that of confidential VMs included, and
// no part of a clock is one VM's: to exclude them is to withhold what it is, and for how long it was lowered.
// Of a device whose clock is never lowered, only where the rule withholds it.
inline bool IsClockHidden(const Device& device, Complement rule) {
  const bool is_lowered_by_all = device.GetWorkloadClock().has_value() && rule == Complement::kExclude;
  return IsWithheld(is_lowered_by_all ? Complement::kWithhold : rule, device.catalog());
}

// Rounded; saturates below mailbox::kNoClockLimit, which is no clock.
inline uint32_t MhzOf(uint64_t hz) {
  constexpr uint64_t kHzPerMhz = 1'000'000;
  const uint64_t mhz = (hz + kHzPerMhz / 2) / kHzPerMhz;
  return static_cast<uint32_t>(std::min<uint64_t>(mhz, mailbox::kNoClockLimit - 1));
}

// The least level of the workload's clock in 15:0 and the most in 31:16; nullopt if the clock has no levels.
inline std::optional<uint32_t> ClockRangeMhz(const Device& device) {
  const auto clock = device.GetWorkloadClock();
  if (!clock) return std::nullopt;
  return MhzOf(clock->levels.front()) | MhzOf(clock->levels.back()) << 16;
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BOARD_CLOCK_H_
