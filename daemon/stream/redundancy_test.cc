// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/redundancy.h"

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
