// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/exchanger.h"

#include <gtest/gtest.h>

namespace sideband::exchange {
namespace {

const Uuid kOneVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
const Uuid kOtherVm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b11");
constexpr absl::Duration kDrawnAt = absl::Seconds(1000);

TEST(ChallengesTest, EachIsTakenOnceByItsVmInTime) {
  Challenges challenges({});
  const Challenge first = *challenges.Draw(kOneVm, kDrawnAt), second = *challenges.Draw(kOneVm, kDrawnAt);
  EXPECT_NE(first, second);
  EXPECT_FALSE(challenges.Take(kOtherVm, first, kDrawnAt));
  EXPECT_TRUE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_FALSE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_FALSE(challenges.Take(kOneVm, second, kDrawnAt + absl::Seconds(61)));
}

TEST(ChallengesTest, HalfOpenExchangesPushOutTheOldest) {
  Challenges challenges({.open_per_vm = 2});
  const Challenge first = *challenges.Draw(kOneVm, kDrawnAt);
  *challenges.Draw(kOneVm, kDrawnAt);
  const Challenge third = *challenges.Draw(kOneVm, kDrawnAt);
  EXPECT_FALSE(challenges.Take(kOneVm, first, kDrawnAt));
  EXPECT_TRUE(challenges.Take(kOneVm, third, kDrawnAt));
}

TEST(ChallengesTest, AFloodOfOneVmEndsAtItsRateAndLeavesOthersAlone) {
  Challenges challenges({.drawn_per_lifetime_max = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(challenges.Draw(kOneVm, kDrawnAt).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(challenges.Draw(kOneVm, kDrawnAt).status()));
  EXPECT_TRUE(challenges.Draw(kOtherVm, kDrawnAt).ok());
  EXPECT_TRUE(challenges.Draw(kOneVm, kDrawnAt + absl::Seconds(61)).ok());
}

TEST(ChallengesTest, ADroppedVmHasNone) {
  Challenges challenges({});
  const Challenge challenge = *challenges.Draw(kOneVm, kDrawnAt);
  challenges.Drop(kOneVm);
  EXPECT_FALSE(challenges.Take(kOneVm, challenge, kDrawnAt));
}

}  // namespace

}  // namespace sideband::exchange
