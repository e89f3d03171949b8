// SPDX-License-Identifier: Apache-2.0
//
// Durations of a chip file in cycles of its clock.
#ifndef SIDEBAND_SECURE_MCU_DEVICE_CYCLES_H_
#define SIDEBAND_SECURE_MCU_DEVICE_CYCLES_H_

#include <algorithm>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"

namespace sideband::mcu {

// Whole cycles of `duration`, which must not be negative and must be below 292 years.
inline uint64_t CyclesOf(absl::Duration duration, uint64_t clock_hz) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(0, absl::ToInt64Nanoseconds(duration)));
  return absl::Uint128Low64(absl::uint128(ns) * clock_hz / 1'000'000'000);
}

// The same, but at least 1.
inline uint64_t CyclesAtLeastOne(absl::Duration duration, uint64_t clock_hz) {
  return std::max<uint64_t>(1, CyclesOf(duration, clock_hz));
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_CYCLES_H_
