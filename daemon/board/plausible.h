// SPDX-License-Identifier: Apache-2.0
//
// What a board can report; anything else is taken for a fault, and is absent.
#ifndef SIDEBAND_DAEMON_BOARD_PLAUSIBLE_H_
#define SIDEBAND_DAEMON_BOARD_PLAUSIBLE_H_

#include <cstdint>

namespace sideband::daemon {

inline constexpr double kCelsiusMin = -60, kCelsiusMax = 250;
inline constexpr double kWattsMax = 10'000;
inline constexpr double kMhzMax = 100'000;
inline constexpr uint32_t kMemoryMibMax = 1 << 24;             // 16 TiB
inline constexpr uint32_t kNvlinkMbpsMax = 1'000'000;          // 1 Tbit/s
inline constexpr uint64_t kNvlinkGainMax = uint64_t{1} << 50;  // bytes between two readings: of 1 Tbit/s in two hours
inline constexpr double kBytesPerSecondMax = 1e14;             // of a link, or of all
// Roundings make a little more than 100 of a percentage that is full.
inline constexpr double kPercentMax = 100, kPercentExcess = 101;  // the latter not included

constexpr double WattsOf(uint32_t milliwatts) { return milliwatts / 1e3; }

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_PLAUSIBLE_H_
