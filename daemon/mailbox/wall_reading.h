// SPDX-License-Identifier: Apache-2.0
//
// When something was, by the host's wall clock. The wall clock is read between readings of the monotonic clocks, which
// bound how long ago it was; the error holds wherever the thread has paused.
//   const absl::Duration from = clock.Steady();
//   Exchange();  // it was meanwhile
//   const absl::Duration to = clock.Steady();
//   const PlacedTime at = PlaceBySteady(ReadWall(clock), from, to);
//   Publish(at.time, at.error);
#ifndef SIDEBAND_DAEMON_MAILBOX_WALL_READING_H_
#define SIDEBAND_DAEMON_MAILBOX_WALL_READING_H_

#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// By how much the wall clock and the raw clock diverge in a time, at most: ntpd and the kernel correct by no more.
inline constexpr double kWallRateMax = 1000e-6;

// The wall clock, and the monotonic ones before and after it was read.
struct WallReading {
  absl::Duration steady_before, raw_before;
  absl::Time wall;
  absl::Duration raw_after, steady_after;
};

WallReading ReadWall(const Clock& clock);

// Both in whole nanoseconds.
struct PlacedTime {
  absl::Time time;
  absl::Duration error;  // to either side
};

// The time of an instant between `from` and `to`, both not after the reading. A wall clock that was set before the
// reading counts as if it always had been.
PlacedTime PlaceBySteady(const WallReading& reading, absl::Duration from, absl::Duration to);
// The same by Clock::Raw, whose rate is not corrected as the wall clock's is.
PlacedTime PlaceByRaw(const WallReading& reading, absl::Duration from, absl::Duration to);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_WALL_READING_H_
