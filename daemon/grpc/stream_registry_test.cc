// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/stream_registry.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "daemon/base/retry_after.h"
#include "daemon/view/fake_world.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

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
