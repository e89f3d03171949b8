// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/challenges.h"

#include <gtest/gtest.h>

namespace sideband::exchange {
namespace {

const Uuid kVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
const Uuid kOther = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b11");
constexpr absl::Duration kNow = absl::Seconds(1000);

TEST(ChallengesTest, EachIsTakenOnceByItsVmInTime) {
  Challenges challenges({});
  const Challenge first = *challenges.Draw(kVm, kNow), second = *challenges.Draw(kVm, kNow);
  EXPECT_NE(first, second);
  EXPECT_FALSE(challenges.Take(kOther, first, kNow));
  EXPECT_TRUE(challenges.Take(kVm, first, kNow));
  EXPECT_FALSE(challenges.Take(kVm, first, kNow));
  EXPECT_FALSE(challenges.Take(kVm, second, kNow + absl::Seconds(61)));
}

TEST(ChallengesTest, HalfOpenExchangesPushOutTheOldest) {
  Challenges challenges({.open_per_vm = 2});
  const Challenge first = *challenges.Draw(kVm, kNow);
  *challenges.Draw(kVm, kNow);
  const Challenge third = *challenges.Draw(kVm, kNow);
  EXPECT_FALSE(challenges.Take(kVm, first, kNow));
  EXPECT_TRUE(challenges.Take(kVm, third, kNow));
}

TEST(ChallengesTest, AFloodOfOneVmEndsAtItsRateAndLeavesOthersAlone) {
  Challenges challenges({.drawn_per_lifetime_max = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(challenges.Draw(kVm, kNow).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(challenges.Draw(kVm, kNow).status()));
  EXPECT_TRUE(challenges.Draw(kOther, kNow).ok());
  EXPECT_TRUE(challenges.Draw(kVm, kNow + absl::Seconds(61)).ok());
}

TEST(ChallengesTest, ADroppedVmHasNone) {
  Challenges challenges({});
  const Challenge challenge = *challenges.Draw(kVm, kNow);
  challenges.Drop(kVm);
  EXPECT_FALSE(challenges.Take(kVm, challenge, kNow));
}

}  // namespace
}  // namespace sideband::exchange
