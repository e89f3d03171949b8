// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/throttle.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

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

TEST_F(HolderThrottleTest, OpenStreamsOfAHolderAreBounded) {
  const auto one = throttle_.ShareOf("a"), another = throttle_.ShareOf("a");
  EXPECT_TRUE(one->CountOpen(128));
  EXPECT_TRUE(another->CountOpen(128));
  EXPECT_FALSE(another->CountOpen(1));
  another->CountOpen(-129);
  EXPECT_TRUE(one->CountOpen(128));
}

TEST_F(HolderThrottleTest, OpenStreamsOfAllAreSharedEqually) {
  std::vector<std::shared_ptr<HolderThrottle::Share>> crowd;
  for (int i = 0; i < 8; ++i) crowd.push_back(throttle_.ShareOf(absl::StrCat("crowd", i)));
  for (const auto& share : crowd) EXPECT_TRUE(share->CountOpen(256));
  const auto late = throttle_.ShareOf("late");
  EXPECT_TRUE(late->CountOpen(2048 / 9)) << "its part";
  EXPECT_FALSE(late->CountOpen(1));
  EXPECT_FALSE(crowd[0]->CountOpen(1));
  for (const auto& share : crowd) share->CountOpen(-256);
  EXPECT_TRUE(late->CountOpen(1));
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
