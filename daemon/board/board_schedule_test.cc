// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace sideband::daemon {
namespace {

constexpr absl::Duration AtMs(int64_t ms) { return absl::Milliseconds(ms); }

// A bus of 100 kHz, of which 30'000 bits a second are the board's.
class BoardScheduleTest : public testing::Test {
 protected:
  // Reads what is due, as it is due, up to `until`; the instants in ms of each group.
  std::map<BoardGroup, std::vector<int64_t>> RunUntil(absl::Duration until) {
    std::map<BoardGroup, std::vector<int64_t>> read;
    while (now_ < until) {
      const auto group = schedule_.NextDue(now_);
      if (!group) {
        now_ = schedule_.NextTime(now_);
        continue;
      }
      read[*group].push_back(absl::ToInt64Milliseconds(now_));
      schedule_.Charge(schedule_.CostOf(*group), now_);
      now_ += absl::Microseconds(10 * static_cast<int64_t>(schedule_.CostOf(*group)));
      schedule_.Finish(*group, true, now_);
    }
    return read;
  }
  BoardSchedule schedule_{{}};
  absl::Duration now_;
};

TEST_F(BoardScheduleTest, NothingActiveIsNothingDue) {
  EXPECT_EQ(schedule_.NextDue(AtMs(0)), std::nullopt);
  EXPECT_EQ(schedule_.NextTime(AtMs(0)), absl::InfiniteDuration());
}

TEST_F(BoardScheduleTest, ReadsEachClassByItsPeriod) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));
  schedule_.Activate(BoardGroup::kEcc, AtMs(0));
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  auto read = RunUntil(absl::Seconds(31));
  EXPECT_EQ(read[BoardGroup::kPower].size(), 31u);
  EXPECT_EQ(read[BoardGroup::kPower][7], 7000);
  EXPECT_EQ(read[BoardGroup::kFlags], (std::vector<int64_t>{0, 10'000, 20'000, 30'000}));
  EXPECT_EQ(read[BoardGroup::kEcc], (std::vector<int64_t>{0, 30'000}));
  EXPECT_EQ(read[BoardGroup::kThresholds], std::vector<int64_t>{0});
}

TEST_F(BoardScheduleTest, TheEarliestDeadlineIsFirst) {
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));  // until 10 s
  schedule_.Activate(BoardGroup::kPower, AtMs(500));
  EXPECT_EQ(schedule_.NextDue(AtMs(500)), BoardGroup::kPower);
  schedule_.Finish(BoardGroup::kPower, true, AtMs(500));
  EXPECT_EQ(schedule_.NextDue(AtMs(500)), BoardGroup::kFlags);
}

TEST_F(BoardScheduleTest, WhatDoesNotFitIsReadLessOften) {
  schedule_.Activate(BoardGroup::kMetrics, AtMs(0));
  schedule_.Activate(BoardGroup::kFlags, AtMs(0));
  schedule_.SetCost(BoardGroup::kMetrics, 90'000);  // worth three seconds
  schedule_.SetCost(BoardGroup::kFlags, 600);
  auto read = RunUntil(absl::Seconds(60));
  EXPECT_GE(read[BoardGroup::kMetrics].size(), 18u);
  EXPECT_LE(read[BoardGroup::kMetrics].size(), 21u);
  // Nothing starves.
  EXPECT_GE(read[BoardGroup::kFlags].size(), 5u);
}

TEST_F(BoardScheduleTest, AGroupBeginsOnceItFits) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.SetCost(BoardGroup::kPower, 3000);
  schedule_.Charge(30'000, AtMs(0));
  EXPECT_EQ(schedule_.NextDue(AtMs(0)), std::nullopt);
  EXPECT_EQ(schedule_.NextDue(AtMs(99)), std::nullopt);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(schedule_.NextTime(AtMs(99))), 100, 0.001);
  EXPECT_EQ(schedule_.NextDue(schedule_.NextTime(AtMs(99))), BoardGroup::kPower);
}

TEST_F(BoardScheduleTest, ACommandAboveTheBucketFitsWhenItIsFull) {
  BoardSchedule slow({.bus_hz = 1000, .bus_share = 0.1});  // 100 bits
  EXPECT_TRUE(slow.Fits(242, AtMs(0)));
  slow.Charge(242, AtMs(0));
  EXPECT_FALSE(slow.Fits(242, AtMs(2400)));
  EXPECT_TRUE(slow.Fits(242, AtMs(2421)));
}

TEST_F(BoardScheduleTest, AFailureIsTriedAgainAfterThePeriodOrTenSeconds) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Finish(BoardGroup::kPower, false, AtMs(100));
  EXPECT_EQ(schedule_.NextTime(AtMs(100)), AtMs(1100));
  schedule_.Deactivate(BoardGroup::kPower);
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  schedule_.Finish(BoardGroup::kThresholds, false, AtMs(100));
  EXPECT_EQ(schedule_.NextTime(AtMs(100)), AtMs(10'100));
}

TEST_F(BoardScheduleTest, MissedReadingsAreNotMadeUpFor) {
  schedule_.Activate(BoardGroup::kPower, AtMs(0));
  schedule_.Finish(BoardGroup::kPower, true, AtMs(5500));
  EXPECT_EQ(schedule_.NextTime(AtMs(5500)), AtMs(5500));
  schedule_.Finish(BoardGroup::kPower, true, AtMs(5600));
  EXPECT_EQ(schedule_.NextTime(AtMs(5600)), AtMs(6500));
}

TEST_F(BoardScheduleTest, ActivatingTwiceChangesNothingAndMakeDueDoes) {
  schedule_.Activate(BoardGroup::kThresholds, AtMs(0));
  schedule_.Finish(BoardGroup::kThresholds, true, AtMs(0));
  schedule_.Activate(BoardGroup::kThresholds, AtMs(10));
  EXPECT_EQ(schedule_.NextDue(AtMs(10)), std::nullopt);
  schedule_.MakeDue(BoardGroup::kThresholds, AtMs(20));
  EXPECT_EQ(schedule_.NextDue(AtMs(20)), BoardGroup::kThresholds);
  schedule_.Deactivate(BoardGroup::kThresholds);
  EXPECT_EQ(schedule_.NextDue(AtMs(20)), std::nullopt);
}

// In any time T, at most share · (T + 1 s) is used, and a command more where it is above the bucket.
RC_GTEST_PROP(BoardSchedulePropertyTest, TheShareIsKept, ()) {
  const auto bus_hz = static_cast<uint32_t>(*rc::gen::inRange(1000, 1'000'000));
  const double share = *rc::gen::inRange(1, 101) / 100.0;
  BoardSchedule schedule({.bus_hz = bus_hz, .bus_share = share});
  const double rate = bus_hz * share;
  double used = 0, most = 0;
  absl::Duration now;
  for (int i = 0; i < 200; ++i) {
    const auto bits = static_cast<uint64_t>(*rc::gen::inRange(100, 500));
    const absl::Duration fits = schedule.TimeToFit(bits, now);
    RC_ASSERT(fits >= now);
    now = fits;
    RC_ASSERT(schedule.Fits(bits, now));
    schedule.Charge(bits, now);
    used += static_cast<double>(bits);
    most = std::max(most, static_cast<double>(bits));
    RC_ASSERT(used <= rate * (absl::ToDoubleSeconds(now) + 1) + most + 1);
  }
}

}  // namespace
}  // namespace sideband::daemon
