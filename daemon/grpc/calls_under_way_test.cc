// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/calls_under_way.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

using Share = std::unique_ptr<CallsUnderWay::Share>;

TEST(CallsUnderWayTest, CallsOfOneIdentityAreLimited) {
  CallsUnderWay under_way({.calls_max = 2});
  Share first = *under_way.Begin("a");
  const Share second = *under_way.Begin("a");
  const absl::Status refused = under_way.Begin("a").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "at most 2 calls at a time; retry in 1s");
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(1));
  EXPECT_TRUE(under_way.Begin("b").ok());
  first.reset();
  EXPECT_TRUE(under_way.Begin("a").ok());
}

TEST(CallsUnderWayTest, WhatIsNotReadKeepsMoreFromBeingAsked) {
  CallsUnderWay under_way({.bytes_max = 100});
  const Share first = *under_way.Begin("a");
  Share second = *under_way.Begin("a");
  first->Hold(60);
  EXPECT_FALSE(first->IsFull());
  second->Hold(1000);
  EXPECT_TRUE(first->IsFull()) << "of one answer whatever its size";
  EXPECT_EQ(under_way.Begin("a").status().message(), "too many bytes of earlier answers are unread; retry in 1s");
  EXPECT_TRUE(under_way.Begin("b").ok());
  second.reset();
  EXPECT_FALSE(first->IsFull());
  EXPECT_TRUE(under_way.Begin("a").ok());
}

TEST(CallsUnderWayTest, InACrowdEachHasAnEqualPart) {
  CallsUnderWay under_way({.bytes_max = 100, .all_bytes_max = 150});
  const Share first = *under_way.Begin("a"), of_b = *under_way.Begin("b"), of_c = *under_way.Begin("c");
  first->Hold(90);
  of_b->Hold(59);
  EXPECT_TRUE(first->Check().ok()) << "149 in all";
  of_c->Hold(1);
  EXPECT_EQ(first->Check(), under_way.Begin("a").status()) << "90 of 150 is more than a third";
  EXPECT_TRUE(of_b->IsFull());
  EXPECT_FALSE(of_c->IsFull());
  EXPECT_TRUE(under_way.Begin("d").ok());
  const Share of_d = *under_way.Begin("d"), of_e = *under_way.Begin("e");
  of_c->Hold(0);
  of_b->Hold(74);
  EXPECT_TRUE(first->IsFull());
  EXPECT_FALSE(of_b->IsFull()) << "74 of 164: who holds nothing takes no part";
  of_b->Hold(0);
  EXPECT_TRUE(first->Check().ok());
  EXPECT_TRUE(under_way.Begin("a").ok());
}

TEST(CallsUnderWayTest, AStreamHoldsOneMessageAfterTheOther) {
  CallsUnderWay under_way({.bytes_max = 100});
  const Share stream = *under_way.Begin("a");
  for (int i = 0; i < 10; ++i) {
    stream->Hold(90);
    EXPECT_FALSE(stream->IsFull()) << i;
    stream->Hold(i % 2 == 0 ? 0 : 10);
  }
  stream->Hold(100);
  EXPECT_TRUE(stream->IsFull());
}

TEST(CallsUnderWayTest, WhoHasNothingUnderWayIsForgotten) {
  CallsUnderWay under_way({});
  {
    const Share a = *under_way.Begin("a");
    const Share b = *under_way.Begin("b");
    a->Hold(5);
    EXPECT_EQ(under_way.identities(), 2u);
  }
  EXPECT_EQ(under_way.identities(), 0u);
}

TEST(CallsUnderWayTest, RefusalsLeaveNothingBehind) {
  CallsUnderWay under_way({.calls_max = 0});
  EXPECT_FALSE(under_way.Begin("a").ok());
  EXPECT_EQ(under_way.identities(), 0u);
}

TEST(CallsUnderWayTest, ThreadsShareIt) {
  CallsUnderWay under_way({.bytes_max = 1000});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) {
          const auto share = under_way.Begin("a");
          if (share.ok()) (*share)->Hold(n);
        }
      });
    }
  }
  EXPECT_EQ(under_way.identities(), 0u);
}

}  // namespace
}  // namespace sideband::daemon
