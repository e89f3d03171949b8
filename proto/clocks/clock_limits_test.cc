// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/clock_limits.h"

#include <gtest/gtest.h>

namespace sideband::clocks {
namespace {

constexpr ClockLimits kValid{.period_shortest = 10, .period_longest = 20, .bar_low = -5, .bar_high = 5};

TEST(ClockLimitsTest, AreChecked) {
  const struct {
    ClockLimits limits;
    bool ok;
  } kRows[] = {
      {kValid, true},
      {{.period_shortest = 0, .period_longest = 20}, false},
      {{.period_shortest = 20, .period_longest = 20}, true},
      {{.period_shortest = 21, .period_longest = 20}, false},
      {{.period_shortest = 21, .period_longest = 0}, true},  // may stop
      {{.period_shortest = kPeriodMax, .period_longest = kPeriodMax}, true},
      {{.period_shortest = kPeriodMax + 1, .period_longest = 0}, false},
      {{.period_shortest = 1, .period_longest = kPeriodMax + 1}, false},
      {{.period_shortest = 1, .bar_low = 5, .bar_high = 5}, true},
      {{.period_shortest = 1, .bar_low = 6, .bar_high = 5}, false},
      {{.period_shortest = 1, .bar_low = -kBarMax, .bar_high = kBarMax}, true},
      {{.period_shortest = 1, .bar_low = -kBarMax - 1, .bar_high = kBarMax}, false},
      {{.period_shortest = 1, .bar_low = -kBarMax, .bar_high = kBarMax + 1}, false},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(CheckLimits(row.limits).code(), row.ok ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
  }
}

TEST(ClockLimitsTest, ABarIsAroundTheReference) {
  EXPECT_EQ(*BarOf({.reference = Instant(100)}, kValid), (InstantRange{Instant(95), Instant(105)}));
}

TEST(ClockLimitsTest, AnArrivalEndsTheBar) {
  EXPECT_EQ(*BarOf({.reference = Instant(100), .arrival = Instant(200)}, kValid),
            (InstantRange{Instant(95), Instant(200)}));
  EXPECT_FALSE(BarOf({.reference = Instant(100), .arrival = Instant(94)}, kValid).ok());
}

TEST(ClockLimitsTest, AClockThatMayStopNeedsAnArrival) {
  ClockLimits limits = kValid;
  limits.period_longest = 0;
  EXPECT_FALSE(BarOf({.reference = Instant(100)}, limits).ok());
  EXPECT_TRUE(BarOf({.reference = Instant(100), .arrival = Instant(200)}, limits).ok());
}

TEST(ClockLimitsTest, InstantsAreChecked) {
  EXPECT_TRUE(BarOf({.reference = Instant(kInstantLimit - 1)}, kValid).ok());
  EXPECT_FALSE(BarOf({.reference = Instant(kInstantLimit)}, kValid).ok());
  EXPECT_FALSE(BarOf({.reference = Instant(-kInstantLimit)}, kValid).ok());
  EXPECT_FALSE(BarOf({.reference = Instant(0), .arrival = Instant(kInstantLimit)}, kValid).ok());
  EXPECT_FALSE(BarOf({.reference = Instant(5), .arrival = Instant(Ticks(kBarMax) + 1)}, kValid).ok());
}

}  // namespace
}  // namespace sideband::clocks
