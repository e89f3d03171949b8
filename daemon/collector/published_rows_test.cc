// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/published_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

using mailbox::PipelineStatistics;

PipelineStatistics All(uint64_t value) {
  return {value, 2 * value, 3 * value, 4 * value, 5 * value, 6 * value, 7 * value};
}

TEST(PipelineIncrementsTest, TheFirstAreAllSinceTheBoot) {
  PipelineIncrements increments;
  EXPECT_EQ(increments.Since(7, All(10)), All(10));
}

TEST(PipelineIncrementsTest, LaterOnesAreDifferences) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  EXPECT_EQ(increments.Since(7, All(13)), All(3));
  EXPECT_EQ(increments.Since(7, All(13)), All(0));
}

TEST(PipelineIncrementsTest, AnotherBootBeginsAtZero) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  EXPECT_EQ(increments.Since(8, All(4)), All(4));
  EXPECT_EQ(increments.Since(8, All(5)), All(1));
}

TEST(PipelineIncrementsTest, AStatisticThatFallsHasNone) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  PipelineStatistics odd = All(11);
  odd.switches = 1;
  PipelineStatistics expected = All(1);
  expected.switches = 0;
  EXPECT_EQ(increments.Since(7, odd), expected);
}

std::shared_ptr<const Topology> TopologyOf(const mailbox::Catalog& catalog) {
  return std::make_shared<Topology>(catalog, /*hash=*/5);
}

DeviceSnapshot At(uint64_t reference_time_ns, mailbox::CounterValues counters) {
  DeviceSnapshot snapshot;
  snapshot.topology = TopologyOf({.events = {{.name = "cycles"}}});
  snapshot.data = {.boot_id = 1,
                   .reference_time_ns = reference_time_ns,
                   .counters_per_block = 1,
                   .blocks = {{.vm = 0}, {.vm = 1, .generation = 1}},
                   .counters = std::move(counters)};
  return snapshot;
}

TEST(RatesTest, AreDifferencesOverReferenceTime) {
  const auto before = At(1'000'000'000, {10, 100});
  EXPECT_EQ(Rates(&before, At(3'000'000'000, {30, 100})), (std::vector<double>{10, 0}));
}

TEST(RatesTest, ElapsedIsReferenceTimeOfOneBoot) {
  auto before = At(1'000'000'000, {10, 100});
  EXPECT_EQ(Elapsed(&before, At(3'000'000'001, {30, 100})), absl::Seconds(2) + absl::Nanoseconds(1));
  EXPECT_EQ(Elapsed(nullptr, before), absl::ZeroDuration());
  EXPECT_EQ(Elapsed(&before, At(~uint64_t{0}, {30, 100})), absl::ZeroDuration()) << "a jump";
  before.data.boot_id = 2;
  EXPECT_EQ(Elapsed(&before, At(3'000'000'000, {30, 100})), absl::ZeroDuration());
}

TEST(RatesTest, AreUnknownWithoutAComparableSnapshot) {
  const auto now = At(2'000'000'000, {30, 200});
  const auto all_unknown = [&](const DeviceSnapshot* before) {
    const auto rates = Rates(before, now);
    return std::isnan(rates[0]) && std::isnan(rates[1]);
  };
  auto before = At(1'000'000'000, {10, 100});
  EXPECT_TRUE(all_unknown(nullptr));
  before.data.boot_id = 2;
  EXPECT_TRUE(all_unknown(&before)) << "the device restarted";
  before = At(2'000'000'000, {10, 100});
  EXPECT_TRUE(all_unknown(&before)) << "no time has passed";
  before = At(1'000'000'000, {10, 100});
  before.topology = TopologyOf({.events = {{.name = "bytes"}}});
  EXPECT_TRUE(all_unknown(&before)) << "counters mean something else";
}

// Otherwise the plan of a VM's turns would be seen in the rates of all others.
TEST(RatesTest, GoOnWhileOthersChangeTheirTurnsOrComeAndGo) {
  mailbox::Catalog catalog = RotatingCatalog();
  const DeviceSnapshot before = RotatingSnapshot(std::make_shared<Topology>(catalog, /*hash=*/5));
  catalog.plans.push_back({.number = 2, .sets = {{0b0110}}});
  catalog.contexts.push_back({.vm = kRotatingVm, .id = 1, .name = "another"});
  mailbox::Snapshot data = RotatingData();
  data.reference_time_ns += 1'000'000'000;
  data.catalog_hash = 78;
  for (uint64_t& counter : data.counters) counter += 7;
  const DeviceSnapshot now = RotatingSnapshot(std::make_shared<Topology>(catalog, /*hash=*/6), data);
  EXPECT_EQ(Elapsed(&before, now), absl::Seconds(1));
  EXPECT_EQ(Rates(&before, now), std::vector<double>(data.counters.size(), 7));
}

TEST(RatesTest, ANewGenerationHasNoRateYet) {
  auto before = At(1'000'000'000, {10, 100});
  before.data.blocks[1].generation = 0;
  const auto rates = Rates(&before, At(2'000'000'000, {30, 200}));
  EXPECT_EQ(rates[0], 20);
  EXPECT_TRUE(std::isnan(rates[1]));
}

TEST(RatesTest, BlocksAreFoundWhereverTheyStand) {
  auto before = At(1'000'000'000, {100, 10});
  std::swap(before.data.blocks[0], before.data.blocks[1]);
  EXPECT_EQ(Rates(&before, At(2'000'000'000, {30, 200})), (std::vector<double>{20, 100}));
}

TEST(RatesTest, ACounterThatWentBackHasNone) {
  const auto before = At(1'000'000'000, {10, 100});
  EXPECT_TRUE(std::isnan(Rates(&before, At(2'000'000'000, {9, 100}))[0]));
}

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

class ConservationTest : public testing::Test {
 protected:
  bool Check() const { return CheckConservation(topology_, raw_); }
  uint64_t& Counter(size_t block, size_t event) { return raw_.counters[block * raw_.counters_per_block + event]; }
  void ClearFlags() {
    for (auto& block : raw_.blocks) block.flags = 0;
  }

  const Topology topology_{SomeCatalog(/*with_secret=*/true), 77};
  mailbox::Snapshot raw_ = SomeSnapshot();
};

// Counts of the first event: device 1111, VMs 11 and 1100, their contexts 10 and 1000.
TEST_F(ConservationTest, AWholeMayHaveMoreThanItsParts) {
  ClearFlags();
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, AVmHasNoLessThanItsContexts) {
  ClearFlags();
  Counter(2, 0) = 11;
  EXPECT_TRUE(Check());
  Counter(2, 0) = 12;
  EXPECT_FALSE(Check());
}

TEST_F(ConservationTest, TheDeviceHasNoLessThanItsVms) {
  ClearFlags();
  Counter(0, 0) = 1111;
  EXPECT_TRUE(Check());
  Counter(0, 0) = 1110;
  EXPECT_FALSE(Check());
}

TEST_F(ConservationTest, HostsArePartsOfTheDevice) {
  ClearFlags();
  raw_.blocks.push_back({.vm = 0, .context = 3});
  raw_.counters.insert(raw_.counters.end(), {9, 0});
  Counter(0, 0) = 1120;
  EXPECT_TRUE(Check());
  Counter(5, 0) = 10;
  EXPECT_FALSE(Check());
  raw_.blocks[5].flags = mailbox::kFlagOverflow;
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, APrivateVmIsNoPartOfTheDevice) {
  ClearFlags();
  Counter(0, 0) = 11;
  EXPECT_FALSE(Check());
  const Topology with_private(CatalogWithPrivateVm(), 77);
  EXPECT_TRUE(CheckConservation(with_private, raw_));
  Counter(0, 0) = 10;
  EXPECT_FALSE(CheckConservation(with_private, raw_)) << "less than the open VM";
  Counter(0, 0) = 11;
  Counter(4, 0) = 1101;
  EXPECT_FALSE(CheckConservation(with_private, raw_)) << "it has no less than its contexts";
}

TEST_F(ConservationTest, DeviceEventsAreNobodysPart) {
  ClearFlags();
  Counter(0, 1) = 0;
  Counter(1, 1) = 5;
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, AFlagExcuses) {
  ClearFlags();
  Counter(2, 0) = 12;
  raw_.blocks[1].flags = mailbox::kFlagOverflow;
  EXPECT_TRUE(Check());
  raw_.blocks[1].flags = 0;
  raw_.blocks[2].flags = mailbox::kFlagMmuFault;
  EXPECT_TRUE(Check());
}

}  // namespace

}  // namespace sideband::daemon
