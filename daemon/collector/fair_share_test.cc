// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/fair_share.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::daemon {
namespace {

using absl::Milliseconds;
using absl::Seconds;
using absl::ZeroDuration;

constexpr double kShare = 0.1;
constexpr absl::Duration kCost = Milliseconds(10);

class FairShareTest : public testing::Test {
 protected:
  bool Take(size_t asker) {
    FairShare::Charge charge{.asker = asker, .of = kShare, .cost = kCost};
    return share_.Take(charge, now_) == ZeroDuration();
  }
  // Each millisecond the askers ask in this order. Returns the bus time that each of them gets.
  std::vector<absl::Duration> Compete(const std::vector<size_t>& askers, absl::Duration period) {
    std::vector<absl::Duration> used(askers.size());
    for (const absl::Duration end = now_ + period; now_ < end; now_ += Milliseconds(1)) {
      for (size_t i = 0; i < askers.size(); ++i) used[i] += Take(askers[i]) ? kCost : ZeroDuration();
    }
    return used;
  }

  FairShare share_;
  absl::Duration now_ = Seconds(100);
};

TEST_F(FairShareTest, OneWhoAsksAloneHasAll) { EXPECT_GE(Compete({7}, Seconds(20))[0], kShare * Seconds(20)); }

TEST_F(FairShareTest, ThoseWhoAlwaysAskHaveTheSame) {
  // Who asks first each time has no more than the others, and one who comes later has its part.
  Compete({1}, Seconds(5));
  const auto used = Compete({1, 2, 3}, Seconds(30));
  for (const absl::Duration one : used) EXPECT_GE(one, 0.9 * kShare / 3 * Seconds(30));
  EXPECT_LE(used[0] + used[1] + used[2], kShare * (Seconds(30) + BusShare::kBurst)) << "not beyond the whole";
}

TEST_F(FairShareTest, APartIsGivenUpWhenItsAskerHasGone) {
  Compete({1, 2}, Seconds(5));
  Compete({1}, FairShare::kPartKept + BusShare::kBurst);
  EXPECT_GE(Compete({1}, Seconds(20))[0], 0.95 * kShare * Seconds(20));
}

TEST_F(FairShareTest, WhatWasNotUsedIsGivenBackToBoth) {
  FairShare::Charge charge{.asker = 1, .of = kShare, .cost = kShare * BusShare::kBurst};
  ASSERT_EQ(share_.Take(charge, now_), ZeroDuration());
  EXPECT_FALSE(Take(1));
  EXPECT_FALSE(Take(2));
  share_.Settle(charge, ZeroDuration());
  EXPECT_TRUE(Take(1));
  EXPECT_TRUE(Take(2));
}

TEST_F(FairShareTest, ARejectionCostsNothing) {
  FairShare::Charge all{.asker = 1, .of = kShare, .cost = kShare * BusShare::kBurst};
  ASSERT_EQ(share_.Take(all, now_), ZeroDuration());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Take(2));
  now_ += kCost / kShare;
  EXPECT_TRUE(Take(2));
}

}  // namespace
}  // namespace sideband::daemon
