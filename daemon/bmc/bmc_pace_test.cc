// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "daemon/bmc/bmc_reader.h"

namespace sideband::daemon {
namespace {

using ::testing::ElementsAre;

TEST(RequestBudgetTest, HoldsInAnyMinute) {
  std::mt19937 random(7);
  for (const uint32_t most : {1u, 30u, 120u}) {
    RequestBudget budget(most);
    std::vector<absl::Duration> spent;
    absl::Duration now = absl::Seconds(1000);
    for (int i = 0; i < 1000; ++i) {
      now = std::max(now + absl::Milliseconds(static_cast<int64_t>(random() % 3000)), budget.NextTime(now));
      EXPECT_EQ(budget.NextTime(now), now);
      budget.Spend(now);
      spent.push_back(now);
      if (spent.size() > most) EXPECT_GE(now - spent[spent.size() - 1 - most], absl::Minutes(1));
    }
  }
}

TEST(RequestBudgetTest, IsThereAtOnce) {
  RequestBudget budget(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.NextTime(absl::Seconds(i)), absl::Seconds(i));
    budget.Spend(absl::Seconds(i));
  }
  EXPECT_EQ(budget.NextTime(absl::Seconds(3)), absl::Seconds(60));
}

TEST(RequestBudgetTest, MayBeSharedWithAnother) {
  RequestBudget before(3);
  for (int i = 0; i < 2; ++i) before.Spend(absl::Seconds(i));
  RequestBudget after(4, before);
  for (int i = 2; i < 4; ++i) after.Spend(absl::Seconds(i));
  EXPECT_EQ(after.NextTime(absl::Seconds(4)), absl::Seconds(60)) << "after the first of four";
  EXPECT_EQ(before.NextTime(absl::Seconds(4)), absl::Seconds(61)) << "after the second: three are of the last minute";
  EXPECT_EQ(RequestBudget(4, after).NextTime(absl::Seconds(4)), absl::Seconds(60)) << "of the third as well";
  EXPECT_EQ(RequestBudget(4).NextTime(absl::Seconds(4)), absl::Seconds(4)) << "of another BMC";
}

TEST(BackOffTest, Doubles) {
  BackOff pause([] { return 0.0; });
  std::vector<absl::Duration> pauses;
  for (int i = 0; i < 6; ++i) {
    pause.Fail(absl::ZeroDuration(), {});
    pauses.push_back(pause.until());
  }
  EXPECT_THAT(pauses, ElementsAre(absl::Minutes(1), absl::Minutes(2), absl::Minutes(4), absl::Minutes(8),
                                  absl::Minutes(15), absl::Minutes(15)));
  pause.Succeed();
  pause.Fail(absl::ZeroDuration(), {});
  EXPECT_EQ(pause.until(), absl::Minutes(1));
}

TEST(BackOffTest, IsUpToAQuarterLonger) {
  BackOff pause([] { return 1.0; });
  pause.Fail(absl::Seconds(5), {});
  EXPECT_EQ(pause.until(), absl::Seconds(5 + 75));
}

TEST(BackOffTest, WaitsAsAskedAndLongerThanNothing) {
  BackOff pause([] { return 0.0; });
  pause.Fail(absl::ZeroDuration(), absl::Seconds(7));
  EXPECT_EQ(pause.until(), absl::Seconds(7));
  pause.Fail(absl::ZeroDuration(), absl::ZeroDuration());
  EXPECT_EQ(pause.until(), absl::Seconds(1));
}

TEST(BackOffTest, OneErrorIsAShortPause) {
  BackOff pause([] { return 0.0; });
  pause.FailOnce(absl::ZeroDuration(), absl::Seconds(5));
  EXPECT_EQ(pause.until(), absl::Seconds(5));
  pause.FailOnce(absl::ZeroDuration(), absl::Seconds(5));
  EXPECT_EQ(pause.until(), absl::Minutes(2));
  pause.Reset();
  EXPECT_LT(pause.until(), absl::ZeroDuration());
}

TEST(FitPeriodsTest, KeepsWhatFits) {
  EXPECT_THAT(FitPeriods({{absl::Seconds(5), 1}, {absl::Seconds(30), 2}}, 30),
              ElementsAre(absl::Seconds(5), absl::Seconds(30)));
}

TEST(FitPeriodsTest, MakesTheLeastImportantRarerFirst) {
  // 12 + 12 + 2 + 2 = 28 requests a minute; 26.6 fit.
  const auto periods =
      FitPeriods({{absl::Seconds(5), 1}, {absl::Seconds(5), 1}, {absl::Seconds(30), 1}, {absl::Seconds(30), 1}}, 28);
  EXPECT_EQ(periods[0], absl::Seconds(5));
  EXPECT_EQ(periods[1], absl::Seconds(5));
  EXPECT_EQ(periods[2], absl::Seconds(30));
  EXPECT_NEAR(absl::ToDoubleSeconds(periods[3]), 100, 1e-6);
}

TEST(FitPeriodsTest, FitsInTheEnd) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<PacedKind> kinds;
    for (size_t i = 0; i < 1 + random() % 6; ++i) {
      kinds.push_back({absl::Seconds(5 + static_cast<int64_t>(random() % 60)), random() % 64});
    }
    const uint32_t most = 1 + random() % 120;
    const auto periods = FitPeriods(kinds, most);
    double sum = 0;
    for (size_t i = 0; i < kinds.size(); ++i) {
      EXPECT_GE(periods[i], kinds[i].period - absl::Nanoseconds(1));
      sum += static_cast<double>(kinds[i].requests) * 60 / absl::ToDoubleSeconds(periods[i]);
    }
    EXPECT_LE(sum, 0.95 * most + 1e-6);
  }
}

}  // namespace
}  // namespace sideband::daemon
