// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/estimated_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "daemon/collector/conservation.h"
#include "daemon/collector/rates.h"
#include "daemon/snapshot/fake_rotation.h"

namespace sideband::daemon {
namespace {

class EstimatedRowsTest : public testing::Test {
 protected:
  // One second later, with these numbers of the VM's row.
  static DeviceSnapshot Later(const DeviceSnapshot& before, uint64_t counted, mailbox::EventEstimate hits) {
    mailbox::Snapshot data = RotatingData();
    data.reference_time_ns = 2'000'000'000;
    data.counters[4 + kHits] = counted;
    data.rotation[1].events[0] = hits;
    DeviceSnapshot now = RotatingSnapshot(before.topology, std::move(data));
    now.rates = Rates(&before, now);
    now.elapsed = Elapsed(&before, now);
    RateEstimates(before, now);
    return now;
  }

  const std::shared_ptr<const Topology> topology_ = std::make_shared<Topology>(RotatingCatalog(), 77);
};

TEST_F(EstimatedRowsTest, ARowIsFlaggedIfAndOnlyIfItShowsAnEstimate) {
  mailbox::Snapshot data = RotatingData();
  data.blocks[1].flags = mailbox::kFlagEstimated | mailbox::kFlagOverflow;
  data.rotation[1] = {};
  DeviceSnapshot snapshot = RotatingSnapshot(topology_, data);
  FlagRotatedRows(snapshot);
  EXPECT_EQ(snapshot.data.blocks[0].flags, mailbox::kFlagEstimated | mailbox::kFlagPartial);
  EXPECT_EQ(snapshot.data.blocks[1].flags, mailbox::kFlagOverflow) << "it shows no number of theirs";
}

TEST_F(EstimatedRowsTest, WithoutNumbersOfRotationTheFlagIsTheDevices) {
  mailbox::Snapshot data = RotatingData();
  data.rotation.clear();
  data.blocks[1].flags = mailbox::kFlagEstimated;
  DeviceSnapshot snapshot = RotatingSnapshot(topology_, data);
  FlagRotatedRows(snapshot);
  EXPECT_EQ(snapshot.data.blocks[0].flags, 0);
  EXPECT_EQ(snapshot.data.blocks[1].flags, mailbox::kFlagEstimated);
}

TEST_F(EstimatedRowsTest, ARowIsPartialIfAnEventMissedATurn) {
  mailbox::Snapshot data = RotatingData();
  data.rotation[0] = {.parts = {{.plan = 0, .enabled = {1000}, .running = {1000, 0}}}, .events = {}};
  data.rotation[1] = {.parts = {{.plan = 0, .enabled = {0}, .running = {0, 0}}}, .events = {}};
  DeviceSnapshot snapshot = RotatingSnapshot(topology_, data);
  FlagRotatedRows(snapshot);
  EXPECT_EQ(snapshot.data.blocks[0].flags, mailbox::kFlagPartial) << "misses have no number";
  EXPECT_EQ(snapshot.data.blocks[1].flags, 0) << "it has not run";
  EXPECT_EQ(snapshot.FlagsOf(0, {true, true, false, false}), 0) << "hits had all turns";
  EXPECT_EQ(snapshot.FlagsOf(2, {true, false, false, false}), 0) << "cycles are always counted";
  EXPECT_EQ(snapshot.FlagsOf(2, {false, true, false, false}), mailbox::kFlagEstimated | mailbox::kFlagPartial);
}

TEST_F(EstimatedRowsTest, RatesAreThoseOfWhatIsShown) {
  const DeviceSnapshot before = RotatingSnapshot(topology_);
  const DeviceSnapshot now = Later(before, 310, {.estimate = 450, .upper = 600, .deviation = 9});
  EXPECT_EQ(now.Rates(1)[kHits], 50);
  EXPECT_EQ(now.Bounds(1)[kHits].lower, 10) << "counted";
  EXPECT_EQ(now.Bounds(1)[kHits].upper, 50) << "250 were missed before, 290 now";
  EXPECT_TRUE(std::isinf(now.Bounds(1)[kDerivedMisses].upper));
  EXPECT_EQ(now.Bounds(1)[kResident].upper, now.Rates(1)[kResident]);
}

TEST_F(EstimatedRowsTest, ThereIsNoRateSinceThereWasNoNumber) {
  DeviceSnapshot before = RotatingSnapshot(topology_);
  before.data.rotation[1] = {};
  EXPECT_TRUE(std::isnan(Later(before, 310, {.estimate = 450, .upper = 600}).Rates(1)[kHits]));
}

// As of an event that the plan in force leaves out.
TEST_F(EstimatedRowsTest, ThereIsNoRateOfAnIntervalThatTheEventMissed) {
  DeviceSnapshot before = RotatingSnapshot(topology_);
  before.data.rotation[1].parts[0].enabled[0] -= 100;
  EXPECT_TRUE(std::isnan(Later(before, 300, {.estimate = 400, .upper = 650}).Rates(1)[kHits]));
}

TEST_F(EstimatedRowsTest, EstimatesAreConserved) {
  mailbox::Snapshot raw = RotatingData();
  for (mailbox::BlockHeader& block : raw.blocks) block.flags = mailbox::kFlagEstimated;
  EXPECT_TRUE(CheckConservation(*topology_, raw));
  ++raw.rotation[2].events[0].estimate;
  EXPECT_FALSE(CheckConservation(*topology_, raw)) << "a context estimates more than its VM";
  raw.blocks[2].flags |= mailbox::kFlagOverflow;
  EXPECT_TRUE(CheckConservation(*topology_, raw)) << "that flag excuses";
}

}  // namespace
}  // namespace sideband::daemon
