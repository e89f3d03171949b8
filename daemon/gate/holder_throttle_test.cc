// SPDX-License-Identifier: Apache-2.0
#include "daemon/gate/holder_throttle.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

class HolderThrottleTest : public testing::Test {
 protected:
  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  HolderThrottle throttle_{{.streams = {.burst = 10, .per_second = 5}, .frames = {.burst = 100, .per_second = 50}},
                           clock_};
};

TEST_F(HolderThrottleTest, ABurstIsFreeAndThenWaits) {
  const auto share = throttle_.ShareOf("a");
  EXPECT_EQ(share->Charge({.streams = 10}), absl::ZeroDuration());
  EXPECT_EQ(share->Charge({.streams = 1}), absl::Milliseconds(200));
  EXPECT_EQ(share->Charge({.streams = 4}), absl::Seconds(1));
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(share->Charge({.streams = 5}), absl::ZeroDuration());
}

TEST_F(HolderThrottleTest, ConnectionsOfOneHolderShare) {
  EXPECT_EQ(throttle_.ShareOf("a")->Charge({.frames = 100}), absl::ZeroDuration());
  EXPECT_GT(throttle_.ShareOf("a")->Charge({.frames = 1}), absl::ZeroDuration());
  EXPECT_EQ(throttle_.ShareOf("b")->Charge({.frames = 1}), absl::ZeroDuration());
}

TEST_F(HolderThrottleTest, AnswersCreditFrames) {
  const auto share = throttle_.ShareOf("a");
  EXPECT_GT(share->Charge({.frames = 101}), absl::ZeroDuration());
  share->CreditAnswer(2 << 10);
  EXPECT_EQ(share->Charge({.frames = 1}), absl::ZeroDuration());
}

// A reconnect does not earn a new burst.
TEST_F(HolderThrottleTest, WhatIsOwedIsKept) {
  EXPECT_GT(throttle_.ShareOf("a")->Charge({.streams = 11}), absl::ZeroDuration());
  for (int i = 0; i < 1000; ++i) throttle_.ShareOf(absl::StrCat("other", i));
  EXPECT_GT(throttle_.ShareOf("a")->Charge({.streams = 1}), absl::ZeroDuration());
  EXPECT_LT(throttle_.size(), 130u);
  clock_.Advance(absl::Minutes(1));
  for (int i = 0; i < 1000; ++i) throttle_.ShareOf(absl::StrCat("other", i));
  EXPECT_LT(throttle_.size(), 130u);
}

}  // namespace
}  // namespace sideband::daemon
