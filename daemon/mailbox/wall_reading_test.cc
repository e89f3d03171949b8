// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/wall_reading.h"

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/pausing_clock.h"

namespace sideband::daemon {
namespace {

constexpr absl::Duration kBefore = absl::Microseconds(301), kAfter = absl::Nanoseconds(700'001);

// What an exchange claims of its instant, beside the instant.
struct Claim {
  PlacedTime placed;
  absl::Time instant;
  bool Holds() const { return absl::AbsDuration(placed.time - instant) <= placed.error; }
};

Claim Exchange(FakeClock& time, const Clock& clock) {
  const absl::Duration from = clock.Steady();
  time.Advance(kBefore);
  const absl::Time instant = time.Now();
  time.Advance(kAfter);
  const absl::Duration to = clock.Steady();
  return {PlaceBySteady(ReadWall(clock), from, to), instant};
}

TEST(WallReadingTest, TheErrorIsHalfOfTheExchange) {
  FakeClock time(absl::FromUnixSeconds(1'700'000'000));
  const Claim claim = Exchange(time, time);
  EXPECT_TRUE(claim.Holds());
  EXPECT_EQ(claim.placed.error, absl::Ceil((kBefore + kAfter) / 2, absl::Nanoseconds(1)));
}

TEST(WallReadingTest, TheInstantIsWithinTheErrorWhereverTheThreadPauses) {
  constexpr absl::Duration kPause = absl::Milliseconds(10);
  FakeClock time(absl::FromUnixSeconds(1'700'000'000));
  constexpr int kReadings = 7;
  for (int at = 0; at <= kReadings; ++at) {
    const PausingClock clock(time, [&](int reading) { return reading == at ? kPause : absl::ZeroDuration(); });
    const Claim claim = Exchange(time, clock);
    EXPECT_EQ(clock.readings(), kReadings);
    EXPECT_TRUE(claim.Holds()) << at;
    EXPECT_LE(claim.placed.error, (kBefore + kAfter + kPause) / 2 + absl::Nanoseconds(1)) << at;
  }
}

TEST(WallReadingTest, AnInstantThatIsKnownIsPlacedAsCloselyAsTheWallClockIsRead) {
  FakeClock time(absl::FromUnixSeconds(1'700'000'000));
  const absl::Duration known = time.Steady();
  time.Advance(absl::Seconds(3));
  const PlacedTime placed = PlaceBySteady(ReadWall(time), known, known);
  EXPECT_EQ(placed.time, absl::FromUnixSeconds(1'700'000'000));
  EXPECT_EQ(placed.error, absl::ZeroDuration());
}

// The wall clock goes slower or faster than the oscillator by what it is corrected by at most.
TEST(WallReadingTest, ByTheRawClockACorrectedWallClockIsWithinTheError) {
  const absl::Time instant = absl::FromUnixSeconds(1'700'000'000);
  constexpr absl::Duration kRaw = absl::Seconds(100), kSince = absl::Milliseconds(250), kPause = absl::Milliseconds(3);
  for (const double rate : {1 - kWallRateMax, 1.0, 1 + kWallRateMax}) {
    for (const absl::Duration before : {absl::ZeroDuration(), kPause}) {
      const absl::Duration read = kRaw + kSince + before;
      const WallReading reading = {
          .raw_before = kRaw + kSince, .wall = instant + (read - kRaw) * rate, .raw_after = kRaw + kSince + kPause};
      const PlacedTime placed = PlaceByRaw(reading, kRaw, kRaw);
      EXPECT_LE(absl::AbsDuration(placed.time - instant), placed.error) << rate << " " << before;
    }
  }
}

}  // namespace
}  // namespace sideband::daemon
