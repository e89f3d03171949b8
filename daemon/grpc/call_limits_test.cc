// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/call_limits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "daemon/base/retry_after.h"
#include "daemon/view/fake_world.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using Share = std::unique_ptr<CallsUnderWay::Share>;

class RequestQuotaTest : public testing::Test {
 protected:
  // The number of `requests` back-to-back requests that are admitted.
  int Ask(const std::string& who, int requests) {
    int admitted = 0;
    for (int i = 0; i < requests; ++i) admitted += quota_.Take(who).is_admitted;
    return admitted;
  }

  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  RequestQuota quota_{{.per_second = 10, .burst = 20}, clock_};
};

TEST_F(RequestQuotaTest, ABurstThenTheRate) {
  EXPECT_EQ(Ask("a", 30), 20);
  for (int second = 0; second < 5; ++second) {
    clock_.Advance(absl::Seconds(1));
    EXPECT_EQ(Ask("a", 30), 10) << second;
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(Ask("a", 30), 20) << "a rest gives one burst, however long it was";
}

TEST_F(RequestQuotaTest, AtTheRateNobodyIsRefused) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Ask("a", 1), 1) << i;
    clock_.Advance(absl::Milliseconds(100));
  }
}

TEST_F(RequestQuotaTest, EachHasItsOwn) {
  EXPECT_EQ(Ask("greedy", 1000), 20);
  EXPECT_EQ(Ask("modest", 1), 1);
}

TEST_F(RequestQuotaTest, TheTimeToRetryIsTheTimeThatHelps) {
  Ask("a", 20);
  clock_.Advance(absl::Milliseconds(30));
  const RequestQuota::Verdict refused = quota_.Take("a");
  EXPECT_FALSE(refused.is_admitted);
  EXPECT_EQ(refused.retry_after, absl::Milliseconds(70));
  clock_.Advance(refused.retry_after - absl::Milliseconds(1));
  EXPECT_FALSE(quota_.Take("a").is_admitted);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(quota_.Take("a").is_admitted) << "those that were refused have cost nothing";
}

TEST_F(RequestQuotaTest, OnlyTheFirstRefusalIsNew) {
  Ask("a", 20);
  EXPECT_FALSE(quota_.Take("a").is_repeated);
  EXPECT_TRUE(quota_.Take("a").is_repeated);
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_TRUE(quota_.Take("a").is_admitted);
  EXPECT_FALSE(quota_.Take("a").is_repeated);
}

TEST_F(RequestQuotaTest, WhoHasRestedIsForgotten) {
  for (int i = 0; i < 1000; ++i) Ask(absl::StrCat("passer-by ", i), 1);
  Ask("greedy", 20);
  EXPECT_EQ(quota_.remembered(), 1001u);
  clock_.Advance(absl::Milliseconds(1999));
  Ask("greedy", 20);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Ask("last", 1), 1);
  EXPECT_EQ(quota_.remembered(), 2u) << "greedy still owes";
  EXPECT_EQ(Ask("greedy", 5), 1);
}

TEST_F(RequestQuotaTest, ThreadsShareIt) {
  std::atomic<int> admitted = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { admitted += Ask("a", 100); });
  }
  EXPECT_EQ(admitted, 20);
}

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

class FakeStream final : public Stream {
 public:
  void Wake() override {
    if (!woken.HasBeenNotified()) woken.Notify();
  }
  void Stop() override { ++stops; }

  absl::Notification woken;  // notified by the registry's thread only
  std::atomic<int> stops = 0;
};

class StreamRegistryTest : public testing::Test {
 protected:
  FakeWorld world_;
  StreamRegistry registry_{world_.reader, 2};
  const std::shared_ptr<FakeStream> stream_ = std::make_shared<FakeStream>();
};

TEST_F(StreamRegistryTest, APublicationWakes) {
  ASSERT_TRUE(registry_.Add("a", stream_).ok());
  world_.Publish(0, 1);
  WaitUntil(stream_->woken, "the stream to be woken");
  registry_.Remove(stream_.get());
}

TEST_F(StreamRegistryTest, APolicyChangeWakes) {
  ASSERT_TRUE(registry_.Add("a", stream_).ok());
  world_.policy.Replace(FakePolicy());
  WaitUntil(stream_->woken, "the stream to be woken");
  registry_.Remove(stream_.get());
}

TEST_F(StreamRegistryTest, SoDoesTimeItself) {
  StreamRegistry registry(world_.reader, 2, absl::Milliseconds(1));
  ASSERT_TRUE(registry.Add("a", stream_).ok());
  WaitUntil(stream_->woken, "the stream to be woken");
  registry.Remove(stream_.get());
}

TEST_F(StreamRegistryTest, AnIdentityHasItsMaximum) {
  ASSERT_TRUE(registry_.Add("a", stream_).ok());
  ASSERT_TRUE(registry_.Add("a", std::make_shared<FakeStream>()).ok());
  const absl::Status third = registry_.Add("a", std::make_shared<FakeStream>());
  EXPECT_EQ(third.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(third.message(), "at most 2 streams at a time; retry in 5s");
  EXPECT_EQ(RetryAfter(third), absl::Seconds(5));
  EXPECT_TRUE(registry_.Add("b", std::make_shared<FakeStream>()).ok()) << "others have theirs";
  StreamRegistry none_at_all(world_.reader, 0), one(world_.reader, 1);
  EXPECT_EQ(none_at_all.Add("a", stream_).message(), "at most 0 streams at a time; retry in 5s");
  ASSERT_TRUE(one.Add("a", std::make_shared<FakeStream>()).ok());
  EXPECT_EQ(one.Add("a", std::make_shared<FakeStream>()).message(), "at most 1 stream at a time; retry in 5s");
  registry_.Remove(stream_.get());
  EXPECT_TRUE(registry_.Add("a", std::make_shared<FakeStream>()).ok());
}

TEST_F(StreamRegistryTest, StopEndsAllAndTakesNoMore) {
  ASSERT_TRUE(registry_.Add("a", stream_).ok());
  registry_.Stop();
  EXPECT_EQ(stream_->stops, 1);
  EXPECT_EQ(registry_.Add("b", std::make_shared<FakeStream>()).code(), absl::StatusCode::kUnavailable);
}

TEST_F(StreamRegistryTest, RemovingTwiceIsHarmless) {
  ASSERT_TRUE(registry_.Add("a", stream_).ok());
  registry_.Remove(stream_.get());
  registry_.Remove(stream_.get());
}

}  // namespace
}  // namespace sideband::daemon
