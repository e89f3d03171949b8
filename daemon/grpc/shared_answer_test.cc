// SPDX-License-Identifier: Apache-2.0
//
// Answers of shared bytes must parse as the messages that would be built for each caller. A failure prints the seed.
#include "daemon/grpc/shared_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/subscription.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/stream_message.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/queries.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetSnapshotRequest;
using sideband::v1::GetSnapshotResponse;
using sideband::v1::SubscribeResponse;

// A FakeWorld of any topology, with any snapshots of any age.
struct RandomWorld : FakeWorld {
  RandomWorld() {
    topology = *rc::gen::element(FakeTopology(), GatedTopology(), RotatingTopology());
    if (*rc::gen::arbitrary<bool>()) AddHostBlocks();
    for (size_t device = 0; device < 2; ++device) {
      const auto publications = *rc::gen::inRange<uint64_t>(0, 4);
      for (uint64_t p = 1; p <= publications; ++p) {
        clock.Advance(absl::Microseconds(*rc::gen::inRange(1, 5'000'000)));
        Publish(device, p);
      }
    }
  }

  std::vector<VisibleDevice> Devices(const Caller& caller) { return reader.Devices(caller); }

  const std::unique_ptr<SelfMetrics> metrics = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies{reader, *metrics};
};

// Mostly of names that exist.
sideband::v1::Filter RandomFilter() {
  sideband::v1::Filter filter;
  filter.set_device(*rc::gen::element<std::string>("", "", "", "gpu0", "gpu1"));
  filter.set_vm(*rc::gen::element<std::string>("", "", "", "", "vm0", "vm1", kVm0Uuid));
  filter.set_context(*rc::gen::element<std::string>("", "", "", "render", "train"));
  for (const std::string& event :
       *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("cycles", "dram_bytes"))) {
    filter.add_events(event);
  }
  return filter;
}

std::string RandomCaller() { return *rc::gen::element<std::string>("ops", "tenant-a", "tenant-b", "tenant-c"); }

template <typename Message>
void ExpectEqual(const absl::StatusOr<grpc::ByteBuffer>& bytes, const Message& wanted) {
  RC_ASSERT(bytes.ok());
  Message parsed;
  RC_ASSERT(FromBytes(*bytes, parsed));
  // Compared as bytes, in which a NaN equals itself.
  if (parsed.SerializeAsString() != wanted.SerializeAsString()) {
    RC_FAIL(absl::StrCat(parsed.DebugString(), "is not\n", wanted.DebugString()));
  }
  RC_ASSERT(bytes->Length() == wanted.ByteSizeLong());
}

TEST(SharedAnswerPropertyTest, SnapshotsAreThoseOfTheCaller) {
  size_t snapshots = 0;
  EXPECT_TRUE(rc::check("GetSnapshotResponse", [&] {
    RandomWorld world;
    // Several requests of each world: later ones find the bodies of earlier ones.
    for (int request_number = 0; request_number < 4; ++request_number) {
      if (*rc::gen::arbitrary<bool>()) world.clock.Advance(absl::Milliseconds(*rc::gen::inRange(0, 4000)));
      const Caller caller = *world.reader.Identify(CredentialsOf(RandomCaller()));
      GetSnapshotRequest request;
      *request.mutable_filter() = RandomFilter();
      const auto answer = GetSnapshot(world.reader, world.bodies, caller, request);
      if (!answer.ok()) continue;
      GetSnapshotResponse wanted;
      const RowFilter filter(request.filter());
      for (const VisibleDevice& device : world.reader.Devices(caller)) {
        if (device.snapshot == nullptr || !filter.SelectsDevice(device)) continue;
        sideband::v1::Snapshot snapshot = SnapshotMessage(device, filter);
        if (snapshot.scopes_size() > 0) *wanted.add_snapshots() = std::move(snapshot);
      }
      ExpectEqual(Serialized(*answer), wanted);
      snapshots += static_cast<size_t>(wanted.snapshots_size());
    }
  }));
  EXPECT_GT(snapshots, 10u) << "nearly all answers are empty";
}

TEST(SharedAnswerPropertyTest, UpdatesAreThoseOfTheCaller) {
  EXPECT_TRUE(rc::check("SubscribeResponse", [] {
    RandomWorld world;
    const RowFilter filter(RandomFilter());
    for (const VisibleDevice& device : world.reader.Devices(*world.reader.Identify(CredentialsOf(RandomCaller())))) {
      if (device.snapshot == nullptr) continue;
      StreamMessage message{.update = world.bodies.Get(device, filter)};
      message.fields.set_skipped(*rc::gen::arbitrary<uint64_t>());
      message.fields.set_sequence(*rc::gen::arbitrary<uint64_t>());
      message.fields.set_resume_token(*rc::gen::arbitrary<std::string>());
      message.fields.set_heartbeat(*rc::gen::arbitrary<bool>());
      SubscribeResponse wanted = message.fields;
      *wanted.mutable_update() = SnapshotMessage(device, filter);
      ExpectEqual(Serialized(message), wanted);
    }
  }));
}

class SharedAnswerTest : public testing::Test {
 protected:
  SharedAnswerTest() { world_.Publish(0, 1); }

  SharedSnapshot Get() {
    return bodies_.Get(world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a"))).front(), {});
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
};

TEST_F(SharedAnswerTest, OtherResponsesAreThemselves) {
  StreamMessage message;
  message.fields.set_sync_response(true);
  message.fields.set_sequence(7);
  SubscribeResponse parsed;
  ASSERT_TRUE(FromBytes(*Serialized(message), parsed));
  EXPECT_EQ(parsed.SerializeAsString(), message.fields.SerializeAsString());
  GetSnapshotResponse none;
  EXPECT_TRUE(FromBytes(*Serialized(std::vector<SharedSnapshot>()), none));
  EXPECT_EQ(none.snapshots_size(), 0);
}

TEST_F(SharedAnswerTest, TheBodyIsNotCopied) {
  const SharedSnapshot snapshot = Get();
  std::vector<grpc::Slice> slices;
  const grpc::ByteBuffer bytes = *Serialized(StreamMessage{.update = snapshot});
  ASSERT_TRUE(bytes.Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), snapshot.body->bytes.data());
}

TEST_F(SharedAnswerTest, TheBufferHoldsTheBody) {
  std::weak_ptr<const SnapshotBody> body;
  {
    const grpc::ByteBuffer bytes = *Serialized(std::vector<SharedSnapshot>(2, Get()));
    body = Get().body;
    world_.Publish(0, 2);
    EXPECT_FALSE(body.expired()) << "what is being sent lives on";
    GetSnapshotResponse parsed;
    ASSERT_TRUE(FromBytes(bytes, parsed));
    EXPECT_EQ(parsed.snapshots(1).snapshot_id(), 1u);
  }
  EXPECT_TRUE(body.expired());
}

TEST_F(SharedAnswerTest, BeyondItsBoundThereIsNoMessage) {
  const StreamMessage message{.update = Get()};
  const size_t size = Serialized(message)->Length();
  EXPECT_TRUE(Serialized(message, size).ok());
  EXPECT_EQ(Serialized(message, size - 1).status(), SerialisationError());
  SharedSnapshot endless{.body = std::make_shared<SnapshotBody>(SnapshotBody{.is_whole = false})};
  EXPECT_EQ(Serialized(std::vector<SharedSnapshot>{endless}).status(), SerialisationError());
}

// Also of streams whose updates come at the same time, and at different times.
TEST_F(SharedAnswerTest, AThousandSubscribersOfAViewCostOneSerialisationPerSnapshot) {
  std::vector<Subscription> subscriptions;
  for (int i = 0; i < 1000; ++i) {
    subscriptions.push_back(*Subscription::Create({.reader = world_.reader, .tokens = *tokens_, .bodies = bodies_},
                                                  CredentialsOf("tenant-a"), EndlessRequest()));
  }
  for (uint64_t publication = 1; publication <= 3; ++publication) {
    world_.Publish(0, publication);
    for (Subscription& subscription : subscriptions) {
      const auto step = subscription.Next();
      const auto* message = std::get_if<StreamMessage>(&step);
      ASSERT_TRUE(message != nullptr && message->update) << publication;
      SubscribeResponse parsed;
      ASSERT_TRUE(FromBytes(*Serialized(*message), parsed));
      ASSERT_EQ(parsed.update().snapshot_id(), publication);
      if (publication == 1) subscription.Next();  // sync_response
    }
  }
  const std::string metrics = metrics_->Serialize();
  EXPECT_TRUE(absl::StrContains(metrics, "\nsideband_grpc_snapshot_serialisations_total 3\n"));
  EXPECT_TRUE(absl::StrContains(metrics, "\nsideband_grpc_snapshots_total 3000\n"));
}

}  // namespace
}  // namespace sideband::daemon
