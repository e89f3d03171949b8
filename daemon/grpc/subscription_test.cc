// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_message.h"
#include "proto/envelope/record.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/vm_records.h"

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

class BoardEventSubscriptionTest : public testing::Test {
 protected:
  BoardEventSubscriptionTest() {
    for (const size_t device : {0, 1}) boards_.SetSettings(device, {.is_read = true});
  }

  BoardEventSubscription Open(const std::string& who, const std::string& device = "") {
    sideband::v1::WatchBoardEventsRequest request;
    request.set_device(device);
    return BoardEventSubscription(sensors_, CredentialsOf(who), request);
  }

  void Say(size_t device, const std::string& text) {
    DriverMessageReading& messages = readings_[device].driver_messages;
    messages.messages.push_back({.xid = 31, .text = text});
    ++messages.taken;
    boards_.Publish(device, std::make_shared<const BoardReading>(readings_[device]));
  }

  static std::string Describe(const StreamStep<BoardEventSubscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    const auto& message = std::get<BoardEventSubscription::Message>(step);
    return message.sync_response() ? "sync" : message.device() + ": " + message.driver_message().text();
  }

  FakeWorld world_;
  BoardStore boards_;
  BoardReading readings_[2];
  const SensorQueries sensors_{world_.reader, boards_};
};

TEST_F(BoardEventSubscriptionTest, WhatIsHeldThenASyncThenWhatHappens) {
  Say(0, "one");
  Say(1, "two");
  BoardEventSubscription stream = Open("ops");
  EXPECT_EQ(Describe(stream.Next()), "gpu0: one");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: two");
  EXPECT_EQ(Describe(stream.Next()), "sync");
  EXPECT_EQ(Describe(stream.Next()), "wait");
  Say(1, "three");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: three");
  EXPECT_EQ(Describe(stream.Next()), "wait");
}

TEST_F(BoardEventSubscriptionTest, OneDevice) {
  Say(0, "one");
  Say(1, "two");
  BoardEventSubscription stream = Open("ops", "gpu1");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: two");
  EXPECT_EQ(Describe(stream.Next()), "sync");
}

TEST_F(BoardEventSubscriptionTest, OthersGetNothing) {
  Say(0, "one");
  world_.Publish(0, 1);
  BoardEventSubscription all = Open("tenant-a");
  EXPECT_EQ(Describe(all.Next()), "sync");
  EXPECT_EQ(Describe(all.Next()), "wait");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("auditor", "gpu0").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("ops", "gpu9").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("stranger").Next()), "UNAUTHENTICATED");
  EXPECT_EQ(Describe(Open("stranger").Wait()), "UNAUTHENTICATED");
}

TEST_F(BoardEventSubscriptionTest, AChangeOfThePolicyEndsIt) {
  Say(0, "one");
  BoardEventSubscription stream = Open("ops");
  EXPECT_EQ(Describe(stream.Next()), "gpu0: one");
  Say(0, "two");
  world_.policy.Replace(
      *Policy::Parse("version: 1\nauditors: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\n", "p.yaml"),
      nullptr);
  EXPECT_EQ(Describe(stream.Next()), "sync") << "no operator any more";
  EXPECT_EQ(Describe(stream.Next()), "wait");
}

class SealedSubscriptionTest : public testing::Test {
 protected:
  SealedSubscriptionTest() { world_.Publish(0, 1); }

  SealedSubscription Open(const std::string& who, const std::string& device, const std::string& vm,
                          const std::string& nonce = "") {
    sideband::v1::SubscribeSealedRequest request;
    request.set_nonce(nonce);
    request.set_device(device);
    request.set_vm(vm);
    return SealedSubscription(world_.reader, sealers_.get(), nullptr, CredentialsOf(who), request);
  }

  static std::string Describe(const StreamStep<SealedSubscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    return std::get<SealedSubscription::Message>(step).record();
  }

  static std::unique_ptr<SealerSet> Load(EpochSource& epochs) {
    const std::string path = testing::TempDir() + "/secret.key";
    std::ofstream(path) << std::string(64, '7') << "\n";
    ::chmod(path.c_str(), 0600);
    return *SealerSet::Load({{*Uuid::Parse(kSecretUuid), path}}, epochs);
  }

  // Publishes a snapshot with newly sealed records, as the collector does.
  void PublishSealed(uint64_t publication) {
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->publication = publication;
    snapshot->sealed.clear();
    const Uuid vm = *Uuid::Parse(kSecretUuid);
    auto records = sealers_->Seal(snapshot->topology->catalog().device, vm, {.boot_id = 1});
    ASSERT_TRUE(records.ok()) << records.status();
    for (StreamRecord& of : *records) {
      snapshot->sealed.push_back({vm, of.stream, std::make_shared<const Bytes>(std::move(of.record))});
    }
    world_.store.Publish(0, std::move(snapshot));
  }

  static envelope::RecordHeader HeaderOf(const StreamStep<SealedSubscription::Message>& step) {
    return envelope::ParseRecord(AsBytes(std::get<SealedSubscription::Message>(step).record()))->header;
  }

  FakeWorld world_;
  EpochSource epochs_{world_.clock, [] { return uint16_t{5}; }};
  const std::unique_ptr<SealerSet> sealers_ = Load(epochs_);
};

TEST_F(SealedSubscriptionTest, EachRecordOnceTheNewestFirst) {
  for (const char* name : {"secret", kSecretUuid}) {
    SealedSubscription subscription = Open("tenant-c", "gpu0", name);
    const uint64_t first = world_.store.Newest(0)->publication;
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first));
    EXPECT_EQ(Describe(subscription.Next()), "wait");
    world_.Publish(0, first + 2);
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first + 2));
  }
}

TEST_F(SealedSubscriptionTest, EverythingElseIsNotFound) {
  EXPECT_EQ(Describe(Open("ops", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "vm0").Next()), "NOT_FOUND") << "not confidential";
  EXPECT_EQ(Describe(Open("tenant-c", "gpu1", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-c", "gpu0", "").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("stranger", "gpu0", "secret").Next()), "UNAUTHENTICATED");
}

TEST_F(SealedSubscriptionTest, WithoutADeviceTheVmIsLookedFor) {
  const uint64_t first = world_.store.Newest(0)->publication;
  EXPECT_EQ(Describe(Open("tenant-c", "", "secret").Next()), "sealed-" + std::to_string(first));
  EXPECT_EQ(Describe(Open("tenant-a", "", "secret").Next()), "NOT_FOUND");
}

TEST_F(SealedSubscriptionTest, ARecordThatIsNotMadeYetIsWaitedFor) {
  auto without = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  without->sealed.clear();
  world_.store.Publish(0, without);
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  world_.Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "sealed-2");
}

TEST_F(SealedSubscriptionTest, AVmWithoutAKeyEndsTheStream) {
  const auto keyless = *SealerSet::Load({}, epochs_);
  for (const std::string& nonce : {std::string(), std::string(envelope::kGuestNonceBytes, 'n')}) {
    sideband::v1::SubscribeSealedRequest request;
    request.set_vm("secret");
    request.set_nonce(nonce);
    const auto describe = [&](const char* who) {
      return Describe(SealedSubscription(world_.reader, keyless.get(), nullptr, CredentialsOf(who), request).Next());
    };
    EXPECT_EQ(describe("tenant-c"), "FAILED_PRECONDITION");
    EXPECT_EQ(describe("tenant-a"), "NOT_FOUND") << "another tenant learns nothing about the key";
  }
}

TEST_F(SealedSubscriptionTest, WithANonceTheRecordsAreTheStreamsOwn) {
  const std::string nonce(envelope::kGuestNonceBytes, 'n');
  SealedSubscription own = Open("tenant-c", "gpu0", "secret", nonce), shared = Open("tenant-c", "gpu0", "secret");
  PublishSealed(10);
  EXPECT_EQ(HeaderOf(shared.Next()).version(), envelope::kRecordVersion1);
  EXPECT_EQ(Describe(own.Next()), "wait") << "what was sealed before is not for it";
  for (const uint64_t sequence : {0, 1}) {
    PublishSealed(11 + sequence);
    const envelope::RecordHeader header = HeaderOf(own.Next());
    EXPECT_EQ(header.sequence, sequence) << "no gap from its beginning on";
    ASSERT_TRUE(header.guest_nonce.has_value());
    EXPECT_EQ(std::string(header.guest_nonce->begin(), header.guest_nonce->end()), nonce);
    EXPECT_EQ(Describe(own.Next()), "wait");
  }
  EXPECT_EQ(HeaderOf(shared.Next()).sequence, 2u);
}

TEST_F(SealedSubscriptionTest, AStreamThatEndsIsSealedForNoLonger) {
  {
    SealedSubscription own = Open("tenant-c", "gpu0", "secret", std::string(envelope::kGuestNonceBytes, 'n'));
    own.Next();
    PublishSealed(2);
    EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 2u);
    const SealedSubscription moved = std::move(own);  // as StreamReactor's constructor does
    PublishSealed(3);
    EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 2u);
  }
  PublishSealed(4);
  EXPECT_EQ(world_.store.Newest(0)->sealed.size(), 1u);
}

TEST_F(SealedSubscriptionTest, ANonceIsOfOneLengthAndNotNothing) {
  const std::string nonce(envelope::kGuestNonceBytes, 'n');
  for (const std::string& bad :
       {nonce.substr(1), nonce + "n", std::string("n"), std::string(envelope::kGuestNonceBytes, '\0')}) {
    EXPECT_EQ(Describe(Open("tenant-c", "gpu0", "secret", bad).Next()), "INVALID_ARGUMENT");
    EXPECT_EQ(Describe(Open("stranger", "gpu0", "secret", bad).Next()), "UNAUTHENTICATED");
  }
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "secret", nonce).Next()), "NOT_FOUND");
  std::vector<SealedSubscription> streams;
  for (size_t i = 0; i <= kNonceStreamsPerVmMax; ++i) {
    streams.push_back(Open("tenant-c", "gpu0", "secret", nonce));
    EXPECT_EQ(Describe(streams.back().Next()), i < kNonceStreamsPerVmMax ? "wait" : "RESOURCE_EXHAUSTED");
  }
}

TEST_F(SealedSubscriptionTest, ARightThatIsTakenEndsTheStream) {
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  subscription.Next();
  world_.policy.Replace(
      *Policy::Parse("version: 1\n"
                     "tenants:\n"
                     "  - name: c\n"
                     "    identities: ['spiffe://example.org/tenant-c']\n"
                     "    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2}]\n",
                     "policy.yaml"));
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

// A VM whose guest has exchanged keys with the daemon.
class ExchangedSubscriptionTest : public SealedSubscriptionTest {
 protected:
  static std::unique_ptr<exchange::ExchangeFixture> Fixture() {
    return std::make_unique<exchange::ExchangeFixture>(testing::TempDir(), "{}",
                                                       std::vector<Uuid>{*Uuid::Parse(kSecretUuid)});
  }

  // Returns the exchange's nonce.
  std::string Exchange() {
    const mailbox::Catalog& catalog = world_.topology->catalog();
    const exchange::ExchangeTarget target{
        .device = catalog.device, .boot_id = 1, .vm = vm_, .generation = 0, .events = exchange::VmEventNames(catalog)};
    auto guest =
        *exchange::GuestExchange::Begin({.device = catalog.device, .vm = vm_}, *book_.Draw(catalog.device, vm_));
    const Bytes request = *guest.Request(fixture_->Evidence(*guest.GetReportData()));
    const auto answer = book_.Exchange(target, request);
    const CertificateRoots roots = *CertificateRoots::Load({fixture_->root_file()});
    const auto keys = guest.Finish(
        answer->bytes, {.roots = &roots, .sealers = {exchange::SealerKind::kDaemon}, .measurements = {}}, std::nullopt);
    return std::string(keys->nonce.begin(), keys->nonce.end());
  }

  void Publish(uint64_t publication) {
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->publication = publication;
    snapshot->sealed.clear();
    auto records = book_.Seal({snapshot->topology->catalog().device, 1, vm_}, {.generation = 0});
    for (exchange::SealedNow& one : *records) {
      snapshot->sealed.push_back({vm_, kExchangedStream, std::make_shared<const Bytes>(std::move(one.record))});
    }
    world_.store.Publish(0, std::move(snapshot));
  }

  SealedSubscription OpenExchanged(const std::string& who, const std::string& nonce) {
    sideband::v1::SubscribeSealedRequest request;
    request.set_vm("secret");
    request.set_nonce(nonce);
    return SealedSubscription(world_.reader, sealers_.get(), &book_, CredentialsOf(who), request);
  }

  const Uuid vm_ = *Uuid::Parse(kSecretUuid);
  const std::unique_ptr<exchange::ExchangeFixture> fixture_ = Fixture();
  FakeClock today_{absl::Now()};  // when the fixture's certificates are valid
  ExchangeBook book_{*exchange::SealingRules::Load(fixture_->sealing_file()), {}, today_};
};

TEST_F(ExchangedSubscriptionTest, AStreamHasTheRecordsOfItsExchangeUntilThatEnds) {
  const std::string first = Exchange(), second = Exchange();
  SealedSubscription of_first = OpenExchanged("tenant-c", first), of_second = OpenExchanged("tenant-c", second);
  Publish(10);
  EXPECT_EQ(HeaderOf(of_first.Next()).sequence, 0);
  const envelope::RecordHeader header = HeaderOf(of_second.Next());
  EXPECT_EQ(std::string(header.guest_nonce->begin(), header.guest_nonce->end()), second);
  EXPECT_EQ(header.suite, envelope::kSuiteHpke);
  EXPECT_EQ(Describe(of_second.Next()), "wait");
  book_.KeepOnly(world_.topology->catalog().device, {});
  EXPECT_EQ(Describe(of_second.Next()), "FAILED_PRECONDITION");
}

TEST_F(ExchangedSubscriptionTest, OthersDoNotLearnOfAnExchange) {
  const std::string nonce = Exchange();
  Publish(10);
  EXPECT_EQ(Describe(OpenExchanged("tenant-a", nonce).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(OpenExchanged("ops", nonce).Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(OpenExchanged("stranger", nonce).Next()), "UNAUTHENTICATED");
}

}  // namespace

}  // namespace sideband::daemon
