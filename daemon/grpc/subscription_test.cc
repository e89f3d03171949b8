// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/shared_answer.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

SubscribeRequest Stream(const std::string& device = "", const std::string& vm = "") {
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_STREAM);
  request.mutable_filter()->set_device(device);
  request.mutable_filter()->set_vm(vm);
  return request;
}

class SubscriptionTest : public testing::Test {
 protected:
  Subscription Open(const std::string& who, const SubscribeRequest& request) {
    return *Subscription::Create(world_.reader, bodies_, CredentialsOf(who), request);
  }

  // "gpu0#3+1" is an update of gpu0 with snapshot 3 and one skipped.
  static std::string Describe(const StreamStep<Subscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    sideband::v1::SubscribeResponse message;
    FromBytes(*Serialized(std::get<Subscription::Message>(step)), message);
    if (message.sync_response()) return "sync";
    return absl::StrCat(message.update().device(), "#", message.update().snapshot_id(), "+", message.skipped());
  }

  void Publish(size_t device, uint64_t publication) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(device, publication);
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
};

TEST_F(SubscriptionTest, OnceIsTheNewestAndTheEnd) {
  Publish(0, 1);
  Publish(1, 4);
  SubscribeRequest request = Stream();
  request.set_mode(SubscribeRequest::MODE_ONCE);
  Subscription subscription = Open("ops", request);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#1+0");
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#4+0");
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "OK");
}

// Holds however often snapshots are published before the reader takes one.
TEST_F(SubscriptionTest, OneSnapshotOfADeviceComesBeforeTheSync) {
  SubscribeRequest once = Stream();
  once.set_mode(SubscribeRequest::MODE_ONCE);
  Publish(0, 1);
  for (const SubscribeRequest& request : {once, Stream()}) {
    Subscription subscription = Open("tenant-a", request);
    EXPECT_THAT(Describe(subscription.Next()), testing::StartsWith("gpu0#"));
    Publish(0, world_.store.Newest(0)->publication + 1);
    EXPECT_EQ(Describe(subscription.Next()), "sync");
  }
}

TEST_F(SubscriptionTest, StreamGoesOnAfterTheSync) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream());
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#1+0");
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#2+0");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, ASlowReaderGetsTheNewestAndTheGap) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream());
  subscription.Next();
  subscription.Next();
  for (int p = 2; p <= 6; ++p) Publish(0, p);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#6+4");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, ALongerIntervalSkips) {
  Publish(0, 1);
  SubscribeRequest request = Stream("gpu0");
  request.mutable_sample_interval()->set_seconds(3);
  Subscription subscription = Open("tenant-a", request);
  subscription.Next();
  subscription.Next();
  for (int p = 2; p <= 3; ++p) {
    Publish(0, p);
    EXPECT_EQ(Describe(subscription.Next()), "wait");
  }
  Publish(0, 4);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#4+2");
}

TEST_F(SubscriptionTest, DevicesTakeTurns) {
  Publish(0, 1);
  Publish(1, 1);
  Subscription subscription = Open("ops", Stream());
  for (int i = 0; i < 3; ++i) subscription.Next();
  Publish(0, 2);
  Publish(1, 2);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#2+0");
  Publish(0, 3);
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#2+0") << "although gpu0 has news again";
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#3+0");
}

TEST_F(SubscriptionTest, ADeviceThatIsAwayIsWaitedFor) {
  Subscription subscription = Open("ops", Stream("gpu1"));
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  Publish(1, 1);
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#1+0");
}

TEST_F(SubscriptionTest, WhatTheCallerDoesNotSeeIsNotFound) {
  Publish(0, 1);
  EXPECT_EQ(Describe(Open("tenant-a", Stream("gpu1")).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", Stream("", "vm1")).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", Stream("", "vm9")).Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, APolicyChangeEndsANamedStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream("", "vm0"));
  subscription.Next();
  subscription.Next();
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, APolicyChangeNarrowsAWideStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream());
  subscription.Next();
  subscription.Next();
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, WhoLeavesThePolicyLosesTheStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream());
  subscription.Next();
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  EXPECT_EQ(Describe(subscription.Next()), "UNAUTHENTICATED");
}

TEST_F(SubscriptionTest, AVmThatVanishesEndsItsStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", Stream("", "vm0"));
  subscription.Next();
  subscription.Next();
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms.erase(catalog.vms.begin());
  world_.topology = std::make_shared<Topology>(catalog, 6);
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, SenselessRequestsAreRefused) {
  const auto error = [&](const SubscribeRequest& request) {
    return std::string(Subscription::Create(world_.reader, bodies_, {}, request).status().message());
  };
  EXPECT_EQ(error({}), "mode: must be MODE_ONCE or MODE_STREAM");
  SubscribeRequest request = Stream();
  request.mutable_sample_interval()->set_nanos(9'999'999);
  EXPECT_EQ(error(request), "sample_interval: must be from 10ms to 24h");
  request.mutable_sample_interval()->set_nanos(10'000'000);
  EXPECT_EQ(error(request), "");
  request.mutable_sample_interval()->set_seconds(-1);
  EXPECT_EQ(error(request), "sample_interval: must be from 10ms to 24h");
  request.mutable_sample_interval()->set_seconds(INT64_MAX);
  EXPECT_EQ(error(request), "sample_interval: must be from 10ms to 24h");
  request = Stream();
  request.set_stream_mode(static_cast<SubscribeRequest::StreamMode>(7));
  EXPECT_EQ(error(request), "stream_mode: must be STREAM_MODE_SAMPLE");
}

}  // namespace
}  // namespace sideband::daemon
