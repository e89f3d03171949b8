// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/own_clock.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

OwnClock ClockWithAnExit() {
  OwnClock clock;
  clock.Start(1000);
  clock.Stop(1500);
  clock.Resume(1700);
  return clock;
}

TEST(OwnClockTest, CountsTheCyclesInWhichItRuns) {
  const OwnClock clock = ClockWithAnExit();
  EXPECT_EQ(clock.Before(1000), 0);
  EXPECT_EQ(clock.Before(1400), 400);
  EXPECT_EQ(clock.Before(1500), 500);
  EXPECT_EQ(clock.Before(1650), 500);
  EXPECT_EQ(clock.Before(2000), 800);
}

TEST(OwnClockTest, FindsTheFirstCycleOfAnOwnTime) {
  const OwnClock clock = ClockWithAnExit();
  EXPECT_EQ(clock.CycleOf(0), 1000);
  EXPECT_EQ(clock.CycleOf(499), 1499);
  EXPECT_EQ(clock.CycleOf(500), 1500) << "before the exit, not after it";
  EXPECT_EQ(clock.CycleOf(501), 1701);
}

TEST(OwnClockTest, NeverReachesATimeWhileStopped) {
  OwnClock clock;
  EXPECT_EQ(clock.CycleOf(1), OwnClock::kNever);
  clock.Start(10);
  clock.Stop(20);
  EXPECT_EQ(clock.CycleOf(10), 20);
  EXPECT_EQ(clock.CycleOf(11), OwnClock::kNever);
  clock.Start(30);
  EXPECT_EQ(clock.CycleOf(OwnClock::kNever), OwnClock::kNever);
}

TEST(OwnClockTest, IgnoresAChangeToTheSameState) {
  OwnClock clock = ClockWithAnExit();
  clock.Resume(1900);
  EXPECT_EQ(clock.Before(2000), 800);
}

TEST(OwnClockTest, ForgetsOnlyThePast) {
  OwnClock clock = ClockWithAnExit();
  clock.Forget(1600);
  EXPECT_EQ(clock.Before(1600), 500);
  EXPECT_EQ(clock.CycleOf(600), 1800);
  EXPECT_EQ(clock.changes(), 2) << "the exit that it is in, and the entry after it";
}

TEST(OwnClockTest, StandsStillAfterTheEnd) {
  OwnClock clock = ClockWithAnExit();
  clock.End();
  clock.Resume(3000);
  EXPECT_FALSE(clock.runs());
  EXPECT_EQ(clock.Before(4000), 0);
}

}  // namespace
}  // namespace sideband::mcu
