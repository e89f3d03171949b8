// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/whole_message.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_bodies.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

class SubscriptionTest : public testing::Test {
 protected:
  Subscription Open(const std::string& who, const SubscribeRequest& request) {
    return *Subscription::Create({.reader = world_.reader, .tokens = *tokens_, .bodies = bodies_}, CredentialsOf(who),
                                 request);
  }

  // "gpu0#3+1" is an update of gpu0 with snapshot 3 and one skipped.
  static std::string Describe(const StreamStep<Subscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    const auto message = Whole(std::get<Subscription::Message>(step));
    if (message.sync_response()) return "sync";
    return absl::StrCat(message.update().device(), "#", message.update().snapshot_id(), "+", message.skipped());
  }

  static bool IsHeartbeat(const StreamStep<Subscription::Message>& step) {
    return std::get<Subscription::Message>(step).fields.heartbeat();
  }

  // gpu0's newest snapshot with a change.
  void Republish(uint64_t publication, const std::function<void(DeviceSnapshot&)>& change) {
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->publication = publication;
    snapshot->data.snapshot_id = static_cast<uint32_t>(publication);
    change(*snapshot);
    world_.store.Publish(0, std::move(snapshot));
  }

  void Publish(size_t device, uint64_t publication) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(device, publication);
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
};

TEST_F(SubscriptionTest, OnceIsTheNewestAndTheEnd) {
  Publish(0, 1);
  Publish(1, 4);
  SubscribeRequest request = EndlessRequest();
  request.set_mode(SubscribeRequest::MODE_ONCE);
  Subscription subscription = Open("ops", request);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#1+0");
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#4+0");
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "OK");
}

// Holds however often snapshots are published before the reader takes one.
TEST_F(SubscriptionTest, OneSnapshotOfADeviceComesBeforeTheSync) {
  SubscribeRequest once = EndlessRequest();
  once.set_mode(SubscribeRequest::MODE_ONCE);
  Publish(0, 1);
  for (const SubscribeRequest& request : {once, EndlessRequest()}) {
    Subscription subscription = Open("tenant-a", request);
    EXPECT_THAT(Describe(subscription.Next()), testing::StartsWith("gpu0#"));
    Publish(0, world_.store.Newest(0)->publication + 1);
    EXPECT_EQ(Describe(subscription.Next()), "sync");
  }
}

TEST_F(SubscriptionTest, StreamGoesOnAfterTheSync) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest());
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#1+0");
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#2+0");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, ASlowReaderGetsTheNewestAndTheGap) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest());
  subscription.Next();
  subscription.Next();
  for (int p = 2; p <= 6; ++p) Publish(0, p);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#6+4");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, ALongerIntervalSkips) {
  Publish(0, 1);
  SubscribeRequest request = EndlessRequest("gpu0");
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
  Subscription subscription = Open("ops", EndlessRequest());
  for (int i = 0; i < 3; ++i) subscription.Next();
  Publish(0, 2);
  Publish(1, 2);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#2+0");
  Publish(0, 3);
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#2+0") << "although gpu0 has news again";
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#3+0");
}

TEST_F(SubscriptionTest, ADeviceThatIsAwayIsWaitedFor) {
  Subscription subscription = Open("ops", EndlessRequest("gpu1"));
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  Publish(1, 1);
  EXPECT_EQ(Describe(subscription.Next()), "gpu1#1+0");
}

TEST_F(SubscriptionTest, WhatTheCallerDoesNotSeeIsNotFound) {
  Publish(0, 1);
  EXPECT_EQ(Describe(Open("tenant-a", EndlessRequest("gpu1")).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", EndlessRequest("", "vm1")).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", EndlessRequest("", "vm9")).Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, APolicyChangeEndsANamedStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest("", "vm0"));
  subscription.Next();
  subscription.Next();
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, APolicyChangeNarrowsAWideStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest());
  subscription.Next();
  subscription.Next();
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, WhoLeavesThePolicyLosesTheStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest());
  subscription.Next();
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  EXPECT_EQ(Describe(subscription.Next()), "UNAUTHENTICATED");
}

TEST_F(SubscriptionTest, AVmThatVanishesEndsItsStream) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest("", "vm0"));
  subscription.Next();
  subscription.Next();
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms.erase(catalog.vms.begin());
  world_.topology = std::make_shared<Topology>(catalog, 6);
  Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

TEST_F(SubscriptionTest, SenselessRequestsAreRefused) {
  const auto created = Subscription::Create({.reader = world_.reader, .tokens = *tokens_, .bodies = bodies_}, {}, {});
  EXPECT_EQ(created.status(), absl::InvalidArgumentError("mode: must be MODE_ONCE or MODE_STREAM"));
}

TEST_F(SubscriptionTest, MessagesAreNumberedAndEachHasAToken) {
  Publish(0, 1);
  Subscription subscription = Open("tenant-a", EndlessRequest());
  for (uint64_t number = 1; number <= 4; ++number) {
    const auto step = subscription.Next();
    const auto& message = std::get<Subscription::Message>(step).fields;
    EXPECT_EQ(message.sequence(), number);
    EXPECT_FALSE(message.resume_token().empty());
    Publish(0, 1 + number);
  }
}

TEST_F(SubscriptionTest, AHeartbeatIsTheWholeStateAndASync) {
  Publish(0, 1);
  Publish(1, 1);
  SubscribeRequest request = EndlessRequest();
  request.mutable_heartbeat_interval()->set_seconds(10);
  request.set_suppress_redundant(true);
  Subscription subscription = Open("ops", request);
  EXPECT_EQ(subscription.reader_patience(), absl::Seconds(20));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(IsHeartbeat(subscription.Next()));
  world_.clock.Advance(absl::Seconds(9));
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  world_.clock.Advance(absl::Seconds(1));
  for (const char* expected : {"gpu0#1+0", "gpu1#1+0", "sync"}) {
    const auto step = subscription.Next();
    EXPECT_EQ(Describe(step), expected);
    EXPECT_TRUE(IsHeartbeat(step));
    const auto message = Whole(std::get<Subscription::Message>(step));
    EXPECT_TRUE(!message.has_update() || message.update().scopes_size() > 1);
  }
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  Publish(0, 2);
  const auto news = subscription.Next();
  EXPECT_EQ(Describe(news), "gpu0#2+0");
  EXPECT_FALSE(IsHeartbeat(news));
}

// A reader may ignore heartbeats.
TEST_F(SubscriptionTest, WhatIsNewWhenAHeartbeatIsDueIsNoHeartbeat) {
  for (const bool suppresses : {false, true}) {
    Publish(0, 1);
    SubscribeRequest request = EndlessRequest();
    request.mutable_heartbeat_interval()->set_seconds(10);
    request.set_suppress_redundant(suppresses);
    Subscription subscription = Open("tenant-a", request);
    for (int i = 0; i < 2; ++i) subscription.Next();
    world_.clock.Advance(absl::Seconds(10));
    Publish(0, 2);
    const auto news = subscription.Next();
    EXPECT_EQ(Describe(news), "gpu0#2+0");
    EXPECT_FALSE(IsHeartbeat(news));
    if (suppresses) {
      const auto whole = subscription.Next();
      EXPECT_EQ(Describe(whole), "gpu0#2+0");
      EXPECT_TRUE(IsHeartbeat(whole));
    }
    const auto sync = subscription.Next();
    EXPECT_EQ(Describe(sync), "sync");
    EXPECT_TRUE(IsHeartbeat(sync));
    EXPECT_EQ(Describe(subscription.Next()), "wait");
    world_.store.Publish(0, nullptr);
  }
}

TEST_F(SubscriptionTest, AReaderSlowerThanTheDeviceHasHeartbeatsToo) {
  Publish(0, 1);
  SubscribeRequest request = EndlessRequest();
  request.mutable_heartbeat_interval()->set_seconds(2);
  request.set_suppress_redundant(true);
  Subscription subscription = Open("tenant-a", request);
  int syncs = 0, news = 0;
  for (uint64_t publication = 2; publication < 30; ++publication) {
    const auto step = subscription.Next();
    syncs += Describe(step) == "sync" ? 1 : 0;
    news += IsHeartbeat(step) ? 0 : 1;
    Publish(0, publication);
  }
  EXPECT_GT(syncs, 4);
  EXPECT_GT(news, 8);
}

TEST_F(SubscriptionTest, AHeartbeatWithoutADeviceIsASyncAlone) {
  SubscribeRequest request = EndlessRequest();
  request.mutable_heartbeat_interval()->set_seconds(1);
  Subscription subscription = Open("auditor", request);
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
}

TEST_F(SubscriptionTest, RedundantScopesAreSuppressed) {
  Publish(0, 1);
  SubscribeRequest request = EndlessRequest();
  request.set_suppress_redundant(true);
  Subscription subscription = Open("tenant-a", request);
  EXPECT_EQ(Describe(subscription.Next()), "gpu0#1+0");
  EXPECT_EQ(Describe(subscription.Next()), "sync");
  Republish(2, [](DeviceSnapshot& snapshot) { snapshot.data.counters[0] += 1; });
  EXPECT_EQ(Describe(subscription.Next()), "wait") << "only the device's row has changed, which a tenant does not see";
  constexpr size_t kVm0Row = 1, kEvents = 3;
  Republish(3, [](DeviceSnapshot& snapshot) { snapshot.data.counters[kVm0Row * kEvents] += 1; });
  const auto step = subscription.Next();
  EXPECT_EQ(Describe(step), "gpu0#3+0") << "a suppressed update is not skipped";
  const auto update = Whole(std::get<Subscription::Message>(step)).update();
  ASSERT_EQ(update.scopes_size(), 1);
  EXPECT_EQ(update.scopes(0).scope().vm(), "vm0");
  EXPECT_TRUE(update.scopes(0).scope().context().empty());
}

}  // namespace
}  // namespace sideband::daemon
