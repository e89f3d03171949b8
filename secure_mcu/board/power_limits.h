// SPDX-License-Identifier: Apache-2.0
//
// The limits of a board's power and of its module's, and which of them is in force.
//   const auto limits = ModuleLimits(spec);
//   if (limits && module_mw > InForceMw(*limits, state.module_limit)) LowerClock();
#ifndef SIDEBAND_SECURE_MCU_BOARD_POWER_LIMITS_H_
#define SIDEBAND_SECURE_MCU_BOARD_POWER_LIMITS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/board/board_state.h"

namespace sideband::mcu {

// The board's, plus the module's power beyond the board's; nullopt if one of the two is not configured. Saturates below
// mailbox::kNoLimit, which is no limit.
inline std::optional<PowerLimits> ModuleLimits(const BoardSpec& spec) {
  if (!spec.power_limit || !spec.module_overhead_mw) return std::nullopt;
  const auto with_overhead = [&](uint32_t mw) {
    constexpr double kMost = std::numeric_limits<uint32_t>::max() - 1;
    return static_cast<uint32_t>(std::clamp(std::round(mw + *spec.module_overhead_mw), 0.0, kMost));
  };
  return PowerLimits{.least_mw = with_overhead(spec.power_limit->least_mw),
                     .most_mw = with_overhead(spec.power_limit->most_mw),
                     .default_mw = with_overhead(spec.power_limit->default_mw)};
}

// What a controller has asked for, or the default.
inline uint32_t InForceMw(const PowerLimits& limits, const PowerLimitState& state) {
  return state.asked_mw.value_or(limits.default_mw);
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BOARD_POWER_LIMITS_H_
