// SPDX-License-Identifier: Apache-2.0
//
// What the emulator must do for every trigger has to fit into real time.
#ifndef SIDEBAND_SECURE_MCU_SERVE_PACE_H_
#define SIDEBAND_SECURE_MCU_SERVE_PACE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// Triggers, commits and the like that a device may have in a second.
inline constexpr uint64_t kPerSecondMax = 100'000;

// The fewest cycles between two of them.
constexpr uint64_t CyclesBetweenMin(uint64_t clock_hz) { return (clock_hz + kPerSecondMax - 1) / kPerSecondMax; }

// INVALID_ARGUMENT where a counter of the collection unit could reach its threshold more often.
absl::Status CheckThresholdPace(const CcuSpec& ccu, uint64_t clock_hz);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_PACE_H_
