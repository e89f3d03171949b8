// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/synchronization/notification.h"
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

}  // namespace
}  // namespace sideband::daemon
