// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/snapshot_bodies.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

class SnapshotBodiesTest : public testing::Test {
 protected:
  SnapshotBodiesTest() { world_.Publish(0, 1); }

  VisibleDevice See(const std::string& who) {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who))).front();
  }
  std::shared_ptr<const SnapshotBody> Body(const std::string& who, const RowFilter& filter = {}) {
    return bodies_.Get(See(who), filter).body;
  }
  static RowFilter Events(const std::vector<std::string>& events) {
    sideband::v1::Filter filter;
    for (const std::string& event : events) filter.add_events(event);
    return RowFilter(filter);
  }
  bool HasMetric(const std::string& name, size_t value) {
    return absl::StrContains(metrics_->Serialize(), absl::StrCat("\n", name, " ", value, "\n"));
  }
  bool HasMade(size_t serialisations) {
    return HasMetric("sideband_grpc_snapshot_serialisations_total", serialisations);
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
};

TEST_F(SnapshotBodiesTest, BothPartsAreTheMessage) {
  world_.clock.Advance(absl::Milliseconds(1234));
  const VisibleDevice device = See("tenant-a");
  const SharedSnapshot shared = bodies_.Get(device, {});
  sideband::v1::Snapshot message;
  ASSERT_TRUE(message.ParseFromString(absl::StrCat(shared.body->bytes, shared.moment)));
  EXPECT_EQ(message.DebugString(), SnapshotMessage(device, {}).DebugString());
  EXPECT_EQ(message.age().nanos(), 234'000'000);
  EXPECT_TRUE(shared.body->has_rows);
  EXPECT_FALSE(Body("tenant-c")->has_rows) << "only sealed";
}

TEST_F(SnapshotBodiesTest, AViewHasOneBodyHoweverManyAsk) {
  const auto body = Body("tenant-a");
  for (int i = 0; i < 999; ++i) EXPECT_EQ(Body("tenant-a"), body);
  EXPECT_TRUE(HasMade(1));
  EXPECT_TRUE(HasMetric("sideband_grpc_snapshots_total", 1000));
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Body("tenant-a"), body) << "the age is not a part of it";
}

TEST_F(SnapshotBodiesTest, ViewsHaveTheirOwn) {
  EXPECT_NE(Body("tenant-a"), Body("tenant-b"));
  EXPECT_NE(Body("ops")->bytes, Body("tenant-a")->bytes);
  EXPECT_TRUE(HasMade(3));
}

TEST_F(SnapshotBodiesTest, APublicationDropsThem) {
  std::weak_ptr<const SnapshotBody> body = Body("tenant-a");
  EXPECT_FALSE(body.expired());
  world_.Publish(1, 1);
  EXPECT_FALSE(body.expired()) << "another device's";
  world_.Publish(0, 2);
  EXPECT_TRUE(body.expired()) << "at once, not at the next request";
  EXPECT_EQ(bodies_.kept(), 0u);
  EXPECT_TRUE(Body("tenant-a")->has_rows);
  EXPECT_TRUE(HasMade(2));
}

TEST_F(SnapshotBodiesTest, AChangeOfThePolicyDropsThem) {
  std::weak_ptr<const SnapshotBody> body = Body("tenant-a");
  const VisibleDevice before = See("tenant-a");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_TRUE(body.expired());
  EXPECT_TRUE(bodies_.Get(before, {}).body->has_rows) << "of a request under the old policy";
  EXPECT_EQ(world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a"))).size(), 0u);
}

TEST_F(SnapshotBodiesTest, AStaleDeviceHasNoRates) {
  world_.Publish(0, 2);
  const auto fresh = Body("tenant-a");
  world_.clock.Advance(absl::Seconds(10));
  const auto stale = Body("tenant-a");
  EXPECT_GT(fresh->bytes.size(), stale->bytes.size());
  EXPECT_EQ(Body("tenant-a"), stale);
}

TEST_F(SnapshotBodiesTest, ALateReaderDisplacesNothing) {
  const VisibleDevice late = See("tenant-a");
  world_.Publish(0, 2);
  const auto newest = Body("tenant-a");
  EXPECT_NE(bodies_.Get(late, {}).body, newest);
  EXPECT_EQ(Body("tenant-a"), newest);
}

TEST_F(SnapshotBodiesTest, EqualFiltersShare) {
  const auto body = Body("ops", Events({"cycles"}));
  EXPECT_NE(body, Body("ops"));
  EXPECT_EQ(body, Body("ops", Events({"cycles"})));
  EXPECT_NE(body, Body("ops", Events({"dram_bytes"})));
  EXPECT_TRUE(HasMade(3));
}

TEST_F(SnapshotBodiesTest, AsManyFiltersAsAreAllowedAreKept) {
  for (size_t i = 0; i < 100; ++i) Body("ops", Events({absl::StrCat("no-such-event-", i)}));
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax);
  const auto without = Body("ops");
  EXPECT_EQ(Body("ops"), without) << "the view's own body is kept nevertheless";
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax + 1);
  Body("tenant-a", Events({"cycles"}));
  EXPECT_EQ(bodies_.kept(), SnapshotBodies::kFiltersMax + 2) << "another view has its own bound";
}

TEST_F(SnapshotBodiesTest, ALongFilterIsNotKept) {
  Body("ops", Events({std::string(SnapshotBodies::kFilterKeyBytesMax, 'e')}));
  EXPECT_EQ(bodies_.kept(), 0u);
}

// Of a log that takes no entries, ViewCache keeps no view.
TEST_F(SnapshotBodiesTest, ViewsThatNobodyHoldsAreDropped) {
  world_.audit.SetRoom(0);
  for (int i = 0; i < 20; ++i) Body("tenant-a");
  EXPECT_LE(bodies_.kept(), 2u);
  EXPECT_TRUE(HasMade(20)) << "each request has a view of its own";
}

TEST_F(SnapshotBodiesTest, DemandsAtOneTimeShareToo) {
  std::vector<std::shared_ptr<const SnapshotBody>> bodies(8);
  {
    std::vector<std::jthread> threads;
    const VisibleDevice device = See("tenant-a");
    for (auto& body : bodies) threads.emplace_back([&body, device, this] { body = bodies_.Get(device, {}).body; });
  }
  for (const auto& body : bodies) EXPECT_EQ(body, bodies[0]);
  EXPECT_TRUE(HasMade(1));
}

TEST_F(SnapshotBodiesTest, PublicationsMayComeAtAnyTime) {
  std::jthread collector([this] {
    for (uint64_t p = 2; p <= 200; ++p) world_.Publish(0, p);
  });
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([this] {
      for (int n = 0; n < 200; ++n) {
        const VisibleDevice device = See("tenant-a");
        sideband::v1::Snapshot message;
        EXPECT_TRUE(message.ParseFromString(bodies_.Get(device, {}).body->bytes));
        EXPECT_EQ(message.snapshot_id(), device.snapshot->data.snapshot_id);
      }
    });
  }
}

}  // namespace
}  // namespace sideband::daemon
