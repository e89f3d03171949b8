// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/replay.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using Outcome = Replay::Outcome;
constexpr absl::Duration kAny = -absl::InfiniteDuration();

class ReplayTest : public testing::Test {
 protected:
  void Publish(int publications) {
    for (int i = 0; i < publications; ++i) {
      world_.clock.Advance(absl::Seconds(1));
      world_.Publish(0, ++published_);
    }
  }
  Caller As(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }
  VisibleDevice Gpu0(const Caller& caller) { return world_.reader.Devices(caller).at(0); }
  absl::Duration SteadyOf(uint64_t publication) { return first_ + absl::Seconds(publication); }

  FakeWorld world_;
  FakePast past_{world_};
  const absl::Duration first_ = world_.clock.Steady();
  uint64_t published_ = 0;
};

TEST_F(ReplayTest, HasEachPublicationOnceInOrder) {
  Publish(5);
  Replay replay = past_.reader.ReplayAfter(0, 2);
  for (const uint64_t publication : {3u, 4u}) {
    ASSERT_EQ(replay.Next(kAny, 5), Outcome::kFound);
    EXPECT_EQ(replay.header().publication, publication);
  }
  EXPECT_EQ(replay.Next(kAny, 5), Outcome::kNothing);
  Publish(2);
  ASSERT_EQ(replay.Next(kAny, 7), Outcome::kFound) << "what was published meanwhile";
  EXPECT_EQ(replay.header().publication, 5u);
}

TEST_F(ReplayTest, PassesOverWhatIsTooEarly) {
  Publish(1500);
  Replay replay = past_.reader.ReplayAfter(0, 1);
  ASSERT_EQ(replay.Next(SteadyOf(1400), 1500), Outcome::kFound) << "over whole chunks, too";
  EXPECT_EQ(replay.header().publication, 1400u);
  EXPECT_EQ(replay.Next(SteadyOf(2000), 1500), Outcome::kNothing);
  EXPECT_EQ(replay.passed(), 1499u);
}

TEST_F(ReplayTest, AMessageHasTheCountsOfItsTimeForEachCaller) {
  for (const auto& topology : {FakeTopology(), GatedTopology()}) {
    world_.topology = topology;
    for (const char* who : {"ops", "tenant-a", "tenant-b", "tenant-c"}) {
      Publish(1);
      const Caller caller = As(who);
      // It was shown so when it was published.
      sideband::v1::Snapshot expected = SnapshotMessage(Gpu0(caller), RowFilter());
      for (auto& row : *expected.mutable_scopes()) {
        row.clear_ratios();
        for (auto& counter : *row.mutable_counters()) {
          counter.clear_rate_per_second();
          counter.clear_rate_coverage();
        }
      }
      expected.clear_trigger_id();
      expected.clear_device_state();
      expected.clear_age();
      expected.clear_elapsed();
      Publish(1);
      Replay replay = past_.reader.ReplayAfter(0, published_ - 2);
      ASSERT_EQ(replay.Next(kAny, published_), Outcome::kFound);
      EXPECT_EQ(replay.Message(Gpu0(caller), caller, RowFilter()).DebugString(), expected.DebugString()) << who;
    }
  }
}

TEST_F(ReplayTest, OfEventsThatTakeTurnsTheCountIsWhatWasShown) {
  world_.topology = RotatingTopology();
  Publish(1);
  const Caller caller = As("ops");
  const sideband::v1::Snapshot shown = SnapshotMessage(Gpu0(caller), RowFilter());
  Publish(1);
  Replay replay = past_.reader.ReplayAfter(0, 0);
  ASSERT_EQ(replay.Next(kAny, 2), Outcome::kFound);
  const sideband::v1::Snapshot replayed = replay.Message(Gpu0(caller), caller, RowFilter());
  ASSERT_EQ(replayed.scopes_size(), shown.scopes_size());
  for (int row = 0; row < shown.scopes_size(); ++row) {
    ASSERT_EQ(replayed.scopes(row).counters_size(), shown.scopes(row).counters_size());
    for (int i = 0; i < shown.scopes(row).counters_size(); ++i) {
      const auto& before = shown.scopes(row).counters(i);
      const auto& after = replayed.scopes(row).counters(i);
      EXPECT_EQ(after.event(), before.event());
      EXPECT_EQ(after.count(), before.count());
      if (!before.has_estimate()) continue;
      EXPECT_EQ(after.estimate().lower(), before.estimate().lower());
      EXPECT_FALSE(after.estimate().has_standard_error());
    }
  }
}

TEST_F(ReplayTest, TheViewIsTheOneThatHoldsNow) {
  Publish(3);
  Replay replay = past_.reader.ReplayAfter(0, 0);
  ASSERT_EQ(replay.Next(kAny, 3), Outcome::kFound);
  Caller caller = As("tenant-a");
  EXPECT_GT(replay.Message(Gpu0(caller), caller, RowFilter()).scopes_size(), 0);
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  caller = As("tenant-a");
  ASSERT_EQ(replay.Next(kAny, 3), Outcome::kFound);
  EXPECT_EQ(replay.Message({.info = world_.store.Info(0)}, caller, RowFilter()).scopes_size(), 0);
}

TEST_F(ReplayTest, ViewsOfThePastAreAudited) {
  Publish(1);
  world_.topology = std::make_shared<Topology>(FakeTopology()->catalog(), 9);
  Publish(1);
  const Caller caller = As("tenant-b");
  Replay replay = past_.reader.ReplayAfter(0, 0);
  ASSERT_EQ(replay.Next(kAny, 2), Outcome::kFound);
  const size_t before = world_.audit.Entries(AuditKind::kView).size();
  replay.Message({.info = world_.store.Info(0)}, caller, RowFilter());
  EXPECT_GT(world_.audit.Entries(AuditKind::kView).size(), before);
}

TEST_F(ReplayTest, WithoutHistoryEverythingIsLost) {
  Publish(2);
  Replay replay(world_.reader, nullptr, 0, 0);
  EXPECT_FALSE(replay.CanGoOn(2));
  EXPECT_TRUE(replay.CanGoOn(1)) << "the newest one is not of the history";
  EXPECT_EQ(replay.Next(kAny, 2), Outcome::kLost);
}

TEST_F(ReplayTest, WhatIsNotHeldInFullIsLost) {
  past_.history.SetMaxBytes(24 << 10);
  Publish(1500);
  EXPECT_FALSE(past_.reader.ReplayAfter(0, 1).CanGoOn(1500)) << "thinned";
  Replay replay = past_.reader.ReplayAfter(0, 1490);
  EXPECT_TRUE(replay.CanGoOn(1500));
  ASSERT_EQ(replay.Next(kAny, 1500), Outcome::kFound);
  past_.history.Remove(0);
  ASSERT_EQ(replay.Next(kAny, 1500), Outcome::kFound) << "of the chunk that it holds";
  EXPECT_EQ(replay.Next(kAny, 1600), Outcome::kFound);
  while (replay.Next(kAny, 1600) == Outcome::kFound) {
  }
  EXPECT_EQ(replay.Next(kAny, 1600), Outcome::kLost);
  EXPECT_EQ(replay.passed(), 1500u);
}

}  // namespace

}  // namespace sideband::daemon
