// SPDX-License-Identifier: Apache-2.0
//
// Times and durations, both in whole nanoseconds.
//   const sideband::Time noon{std::chrono::hours(12)};
//   std::cout << sideband::FormatTime(noon) << "\n";
// prints 1970-01-01T12:00:00.000Z.
#ifndef SIDEBAND_TIME_H_
#define SIDEBAND_TIME_H_

#include <chrono>
#include <string>

#include "sideband/export.h"

namespace sideband {

using Duration = std::chrono::nanoseconds;

// An instant by the clock of the daemon's host, in UTC: a std::chrono::system_clock's time point, from 1677 to 2262.
// How far that clock may be from UTC is Snapshot::host_utc_error.
using Time = std::chrono::sys_time<Duration>;

// UTC, to the millisecond, rounded down: 2026-11-21T12:34:07.958Z.
SIDEBAND_EXPORT std::string FormatTime(Time time) noexcept;

}  // namespace sideband

#endif  // SIDEBAND_TIME_H_
