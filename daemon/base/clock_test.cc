// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "daemon/base/pausing_clock.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClockWatchTest : public ::testing::Test {
 protected:
  FakeClock clock_{absl::FromUnixSeconds(1'000'000)};
  std::vector<absl::Duration> steps_;
  ClockWatch watch_{clock_, [this](absl::Duration by) { steps_.push_back(by); }};
};

TEST_F(ClockWatchTest, TimeThatPassesIsNoStep) {
  for (const absl::Duration passed : {absl::ZeroDuration(), absl::Seconds(1), absl::Hours(100)}) {
    clock_.Advance(passed);
    watch_.Check();
  }
  EXPECT_THAT(steps_, IsEmpty());
}

TEST_F(ClockWatchTest, EachStepIsReportedOnce) {
  clock_.Advance(absl::Seconds(1));
  clock_.Step(absl::Hours(1));
  watch_.Check();
  watch_.Check();
  clock_.Advance(absl::Seconds(1));
  clock_.Step(-absl::Hours(2));
  watch_.Check();
  watch_.Check();
  EXPECT_THAT(steps_, ElementsAre(absl::Hours(1), -absl::Hours(2)));
}

TEST_F(ClockWatchTest, ASlewIsNoStep) {
  for (int second = 0; second < 3600; ++second) {
    clock_.Advance(absl::Seconds(1));
    clock_.Step(absl::Milliseconds(84));
    watch_.Check();
  }
  EXPECT_THAT(steps_, IsEmpty());
}

TEST_F(ClockWatchTest, TheLeastStep) {
  clock_.Step(ClockWatch::kStepMin - absl::Nanoseconds(1));
  watch_.Check();
  EXPECT_THAT(steps_, IsEmpty());
  clock_.Step(-ClockWatch::kStepMin);
  watch_.Check();
  EXPECT_THAT(steps_, ElementsAre(-ClockWatch::kStepMin));
}

TEST(ClockWatchDescribeTest, SaysWhichWayAndHowFar) {
  EXPECT_EQ(ClockWatch::Describe(absl::Hours(1) - absl::Milliseconds(3)),
            "the wall clock was set ahead by 1h: collection keeps its pace, and timestamps follow the clock");
  EXPECT_EQ(ClockWatch::Describe(-absl::Milliseconds(1540)),
            "the wall clock was set back by 1.5s: collection keeps its pace, and timestamps follow the clock");
}

TEST(PeriodicThreadTest, WorksAgainAndAgainUntilStopped) {
  absl::Notification three;
  int times = 0;
  PeriodicThread thread(absl::Milliseconds(1), [&] {
    if (++times == 3) three.Notify();
  });
  thread.Start();
  WaitUntil(three, "the third time");
  thread.Stop();
  const int until_then = times;
  thread.Stop();
  EXPECT_EQ(times, until_then);
}

TEST(PeriodicThreadTest, StopDoesNotWaitForTheInterval) {
  const TimeLimit limit("the end of a thread that would work in an hour");
  PeriodicThread thread(absl::Hours(1), [] { FAIL() << "an hour has not passed"; });
  thread.Start();
  thread.Stop();
}

TEST(PeriodicThreadTest, NeedNotBeStarted) {
  PeriodicThread(absl::Seconds(1), [] {}).Stop();
}

constexpr absl::Duration kBefore = absl::Microseconds(301), kAfter = absl::Nanoseconds(700'001);

// An exchange's claim of its instant, beside the instant.
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
