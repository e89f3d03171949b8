// SPDX-License-Identifier: Apache-2.0
//
// Limits on the rate of triggers and commits, which the emulator must process in real time.
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_PACE_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_PACE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// The highest rate, per second, of a periodic trigger, of a commit and of readouts at a threshold.
inline constexpr uint64_t kPerSecondMax = 100'000;

// The shortest period within kPerSecondMax.
constexpr uint64_t CyclesBetweenMin(uint64_t clock_hz) { return (clock_hz + kPerSecondMax - 1) / kPerSecondMax; }

// INVALID_ARGUMENT if a counter of the collection unit could reach its threshold more often than kPerSecondMax.
absl::Status CheckThresholdPace(const CcuSpec& ccu, uint64_t clock_hz);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_PACE_H_
