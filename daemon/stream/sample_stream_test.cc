// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sample_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace sideband::daemon {
namespace {

using sideband::v1::ScopeCounters;
using sideband::v1::Snapshot;
using testing::ElementsAre;
using testing::IsEmpty;

DeviceSnapshot At(uint64_t publication, absl::Duration time) {
  DeviceSnapshot snapshot;
  snapshot.publication = publication;
  snapshot.steady_time = time;
  return snapshot;
}

// The publications taken of 1, 2, …, latched one second apart with alternating `jitter`.
std::vector<uint64_t> Taken(absl::Duration sample_interval, int publications, absl::Duration jitter = {}) {
  SamplePacer pacer(sample_interval);
  std::vector<uint64_t> taken;
  for (int p = 1; p <= publications; ++p) {
    const auto snapshot = At(p, absl::Seconds(p) + (p % 2 == 0 ? jitter : -jitter));
    if (!pacer.Wants(snapshot, absl::Seconds(1))) continue;
    pacer.Take(snapshot);
    taken.push_back(p);
  }
  return taken;
}

TEST(SamplePacerTest, NoIntervalIsEveryPublication) {
  EXPECT_THAT(Taken(absl::ZeroDuration(), 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Taken(absl::Seconds(1), 4, absl::Milliseconds(20)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Taken(absl::Milliseconds(10), 4), ElementsAre(1, 2, 3, 4)) << "more there are not";
}

TEST(SamplePacerTest, LongerIntervalsTakeTheNearest) {
  EXPECT_THAT(Taken(absl::Seconds(2), 7), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(Taken(absl::Seconds(2), 7, absl::Milliseconds(20)), ElementsAre(1, 3, 5, 7)) << "jitter does not matter";
  EXPECT_THAT(Taken(absl::Milliseconds(1500), 8), ElementsAre(1, 2, 4, 5, 7, 8));
}

TEST(SamplePacerTest, NothingIsTakenTwiceOrBackwards) {
  SamplePacer pacer(absl::ZeroDuration());
  pacer.Take(At(5, absl::Seconds(5)));
  EXPECT_FALSE(pacer.Wants(At(5, absl::Seconds(5)), absl::Seconds(1)));
  EXPECT_FALSE(pacer.Wants(At(4, absl::Seconds(9)), absl::Seconds(1)));
  EXPECT_TRUE(pacer.Wants(At(6, absl::Seconds(6)), absl::Seconds(1)));
}

TEST(SamplePacerTest, SkippedIsWhatLiesBetween) {
  SamplePacer pacer(absl::ZeroDuration());
  EXPECT_EQ(pacer.Take(At(7, absl::Seconds(7))), 0u) << "what was before the stream is not skipped";
  EXPECT_EQ(pacer.Take(At(8, absl::Seconds(8))), 0u);
  EXPECT_EQ(pacer.Take(At(12, absl::Seconds(12))), 3u);
}

TEST(SamplePacerTest, ADeviceThatIsReadMoreOftenIsStillSampledAtTheInterval) {
  SamplePacer pacer(absl::Seconds(1));
  EXPECT_TRUE(pacer.Wants(At(1, absl::Seconds(1)), absl::Seconds(1)));
  pacer.Take(At(1, absl::Seconds(1)));
  EXPECT_FALSE(pacer.Wants(At(2, absl::Milliseconds(1100)), absl::Milliseconds(100)));
  EXPECT_TRUE(pacer.Wants(At(11, absl::Seconds(2)), absl::Milliseconds(100)));
}

TEST(SamplePacerTest, AfterAPauseTheGridStartsAnew) {
  SamplePacer pacer(absl::Seconds(10));
  pacer.Take(At(1, absl::Seconds(1)));
  pacer.Take(At(2, absl::Seconds(100)));
  EXPECT_FALSE(pacer.Wants(At(3, absl::Seconds(101)), absl::Seconds(1)));
  EXPECT_TRUE(pacer.Wants(At(12, absl::Seconds(110)), absl::Seconds(1)));
}

// The device and the VMs a, b and c, with two events each.
Snapshot Whole() {
  Snapshot update;
  update.set_boot_id(5);
  for (const char* vm : {"", "a", "b", "c"}) {
    ScopeCounters& row = *update.add_scopes();
    row.mutable_scope()->set_vm(vm);
    row.mutable_scope()->set_generation(1);
    row.set_state(ScopeCounters::STATE_ACTIVE);
    for (const char* event : {"x", "y"}) {
      row.add_counters()->set_event(event);
      row.mutable_counters()->rbegin()->set_count(7);
    }
  }
  return update;
}

// The VMs that are left of the update after Whole().
std::vector<std::string> Left(Snapshot update) {
  RemoveUnchanged(DigestsOf(Whole()), DigestsOf(update), update);
  std::vector<std::string> left;
  for (const auto& row : update.scopes()) left.push_back(row.scope().vm());
  return left;
}

TEST(RedundancyTest, NothingIsLeftOfTheSame) { EXPECT_THAT(Left(Whole()), IsEmpty()); }

TEST(RedundancyTest, EverythingIsLeftAfterNothing) {
  Snapshot update = Whole();
  RemoveUnchanged({}, DigestsOf(update), update);
  EXPECT_EQ(update.scopes_size(), 4);
}

TEST(RedundancyTest, OnlyMeasurementsDoNotCount) {
  Snapshot update = Whole();
  update.set_snapshot_id(9);
  update.mutable_age()->set_seconds(1);
  update.mutable_scopes(1)->mutable_counters(0)->set_rate_per_second(3);
  update.mutable_scopes(2)->add_ratios()->set_value(0.5);
  EXPECT_THAT(Left(update), IsEmpty());
}

TEST(RedundancyTest, EachKindOfChangeKeepsItsScopeInOrder) {
  const std::vector<std::function<void(ScopeCounters&)>> changes = {
      [](ScopeCounters& row) { row.mutable_counters(1)->set_count(8); },
      [](ScopeCounters& row) { row.mutable_counters(1)->set_event("z"); },
      [](ScopeCounters& row) { row.mutable_counters()->RemoveLast(); },
      [](ScopeCounters& row) { row.set_state(ScopeCounters::STATE_RETIRED); },
      [](ScopeCounters& row) { row.add_flags("overflow"); },
      [](ScopeCounters& row) { row.mutable_scope()->set_generation(2); },
      [](ScopeCounters& row) { row.mutable_scope()->set_slice(0); },
  };
  for (const auto& change : changes) {
    Snapshot update = Whole();
    change(*update.mutable_scopes(3));
    change(*update.mutable_scopes(1));
    EXPECT_THAT(Left(update), ElementsAre("a", "c"));
  }
}

TEST(RedundancyTest, ARestartOfTheDeviceChangesEveryScope) {
  Snapshot update = Whole();
  update.set_boot_id(6);
  EXPECT_THAT(Left(update), ElementsAre("", "a", "b", "c"));
}

}  // namespace

}  // namespace sideband::daemon
