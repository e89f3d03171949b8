// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/wall_reading.h"

namespace sideband::daemon {
namespace {

// It was `least` to `most` before the wall clock was read. Messages have whole nanoseconds: rounded outward.
PlacedTime Before(absl::Time wall, absl::Duration least, absl::Duration most) {
  constexpr absl::Duration kNanosecond = absl::Nanoseconds(1);
  const absl::Duration read = wall - absl::UnixEpoch();
  const absl::Duration low = absl::Floor(read - most, kNanosecond), high = absl::Ceil(read - least, kNanosecond);
  const absl::Duration error = absl::Ceil((high - low) / 2, kNanosecond);
  return {.time = absl::UnixEpoch() + low + error, .error = error};
}

}  // namespace

WallReading ReadWall(const Clock& clock) {
  WallReading reading;
  reading.steady_before = clock.Steady();
  reading.raw_before = clock.Raw();
  reading.wall = clock.Now();
  reading.raw_after = clock.Raw();
  reading.steady_after = clock.Steady();
  return reading;
}

PlacedTime PlaceBySteady(const WallReading& reading, absl::Duration from, absl::Duration to) {
  return Before(reading.wall, reading.steady_before - to, reading.steady_after - from);
}

PlacedTime PlaceByRaw(const WallReading& reading, absl::Duration from, absl::Duration to) {
  return Before(reading.wall, (reading.raw_before - to) * (1 - kWallRateMax),
                (reading.raw_after - from) * (1 + kWallRateMax));
}

}  // namespace sideband::daemon
