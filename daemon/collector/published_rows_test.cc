// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/published_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/collector/confidentiality.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;
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

// The plan in force leaves the event out.
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

// V12, honest: what the daemon reports of a count's time is true (docs/design/virtual-counters.md). The truth is a list
// of all cycles that were ever resident, each with its gates, which no counter has.

// Two gated events, one that is not, and the times.
constexpr size_t kEvents = 6, kResidentCycles = 3, kGroups = 2;
constexpr size_t kRunning[kGroups] = {4, 5};
constexpr uint16_t kContexts = 2;  // of each of VMs 1 and 2
constexpr uint64_t kClockHz = 1000;

mailbox::Catalog GatedCatalog(bool with_secret) {
  mailbox::Catalog catalog{.reference_clock_hz = kClockHz};
  catalog.events = {{.name = "a_cycles", .details = {.gate_group = 0}},
                    {.name = "b_cycles", .details = {.gate_group = 1}},
                    {.name = "free_cycles"},
                    {.name = "resident_cycles"},
                    {.name = "group_a_running_cycles", .details = {.gate_group = 0}},
                    {.name = "group_b_running_cycles", .details = {.gate_group = 1}}};
  catalog.gate_groups = {{"a", kRunning[0]}, {"b", kRunning[1]}};
  catalog.vms = {{.id = 1, .name = "vm1"}, {.id = 2, .name = "vm2", .confidential = with_secret}};
  return catalog;
}

// A resident cycle of a context.
struct Cycle {
  uint16_t vm = 1;
  uint16_t context = 0;
  uint32_t generation = 1;
  bool open[kGroups] = {};
  uint64_t snapshot = 0;  // the first that has it
};

bool IsOf(const Cycle& cycle, const mailbox::BlockHeader& block, bool with_secret) {
  if (block.vm == mailbox::kHypervisorVm) return !with_secret || cycle.vm == 1;
  if (cycle.vm != block.vm) return false;
  return block.context == kNoContext || (cycle.context == block.context && cycle.generation == block.generation);
}

// Emulates what a device counts, and keeps every cycle.
class World {
 public:
  explicit World(bool with_secret)
      : with_secret_(with_secret), topology_(std::make_shared<Topology>(GatedCatalog(with_secret), 1)) {
    Boot();
  }

  void Boot() {
    ++boot_;
    cycles_.clear();
    time_ns_ = 0;
    snapshot_ = 0;
    blocks_ = {{.vm = 0}};
    for (uint16_t vm = 1; vm <= 2; ++vm) {
      blocks_.push_back({.vm = vm, .generation = 1});
      for (uint16_t context = 0; context < kContexts; ++context) {
        blocks_.push_back({.vm = vm, .context = context, .generation = 1});
      }
    }
    counters_.assign(blocks_.size() * kEvents, 0);
  }

  void Run(Cycle kind, uint64_t cycles) {
    const size_t block = BlockOf(kind.vm, kind.context);
    kind.generation = blocks_[block].generation;
    kind.snapshot = snapshot_ + 1;
    cycles_.insert(cycles_.end(), cycles, kind);
    for (const size_t row : {size_t{0}, BlockOf(kind.vm, kNoContext), block}) Count(kind, cycles, row);
    Pass(cycles);
  }
  void Pass(uint64_t cycles) { time_ns_ += cycles * (1'000'000'000 / kClockHz); }

  void Restart(uint16_t vm, uint16_t context) {
    const size_t block = BlockOf(vm, context);
    ++blocks_[block].generation;
    std::fill_n(counters_.begin() + static_cast<ptrdiff_t>(block * kEvents), kEvents, 0);
  }

  // Publishes it as DeviceCollector does.
  std::shared_ptr<const DeviceSnapshot> Publish(const std::shared_ptr<const DeviceSnapshot>& before) {
    mailbox::Snapshot raw{.boot_id = boot_,
                          .snapshot_id = static_cast<uint32_t>(++snapshot_),
                          .catalog_hash = 1,
                          .reference_time_ns = time_ns_,
                          .counters_per_block = kEvents,
                          .blocks = blocks_,
                          .counters = counters_};
    auto snapshot = std::make_shared<DeviceSnapshot>();
    snapshot->topology = topology_;
    Redacted redacted = Redact(*topology_, std::move(raw), before.get(), {.generation = 7, .is_first_of_boot = true});
    snapshot->data = std::move(redacted.shown);
    FlagPartialRows(topology_->coverage(), snapshot->data);
    snapshot->rates = Rates(before.get(), *snapshot);
    DropUncountedRates(topology_->coverage(), kEvents, snapshot->rates);
    return snapshot;
  }

  // The cycles of a row since snapshot `since`.
  std::vector<Cycle> CyclesOf(const mailbox::BlockHeader& block, uint64_t since) const {
    std::vector<Cycle> cycles;
    std::ranges::copy_if(cycles_, std::back_inserter(cycles), [&](const Cycle& cycle) {
      return cycle.snapshot > since && IsOf(cycle, block, with_secret_);
    });
    return cycles;
  }

 private:
  size_t BlockOf(uint16_t vm, uint16_t context) const {
    const auto found = std::ranges::find_if(
        blocks_, [&](const mailbox::BlockHeader& block) { return block.vm == vm && block.context == context; });
    return static_cast<size_t>(found - blocks_.begin());
  }

  void Count(const Cycle& kind, uint64_t cycles, size_t row) {
    uint64_t* const counters = &counters_[row * kEvents];
    counters[2] += cycles;
    counters[kResidentCycles] += cycles;
    for (size_t group = 0; group < kGroups; ++group) {
      if (!kind.open[group]) continue;
      counters[group] += 3 * cycles;
      counters[kRunning[group]] += cycles;
    }
  }

  const bool with_secret_;
  const std::shared_ptr<const Topology> topology_;
  uint64_t boot_ = 0, time_ns_ = 0, snapshot_ = 0;
  std::vector<mailbox::BlockHeader> blocks_;
  mailbox::CounterValues counters_;
  std::vector<Cycle> cycles_;  // of this boot
};

// The share of the cycles in which the group's gate was open; nullopt of no cycle.
std::optional<double> Share(const std::vector<Cycle>& cycles, size_t group) {
  if (cycles.empty()) return std::nullopt;
  const auto open = std::ranges::count_if(cycles, [&](const Cycle& cycle) { return cycle.open[group]; });
  return static_cast<double>(open) / static_cast<double>(cycles.size());
}

bool IsNear(double a, double b) { return std::abs(a - b) < 1e-12; }

void CheckCount(const DeviceSnapshot& snapshot, size_t row, size_t group, const std::vector<Cycle>& life) {
  const double reported = snapshot.topology->coverage().OfCount(group, snapshot.data.Counters(row));
  const double truth = Share(life, group).value_or(0);
  RC_ASSERT(IsNear(reported, truth));
  RC_ASSERT(snapshot.IsShown(row, group) == (truth > 0));
  const bool is_partial = (snapshot.data.blocks[row].flags & mailbox::kFlagPartial) != 0;
  if (!is_partial) RC_ASSERT(std::ranges::all_of(life, [&](const Cycle& cycle) { return cycle.open[group]; }));
}

void CheckRate(const DeviceSnapshot& snapshot, size_t row, size_t group, const std::vector<Cycle>& interval) {
  const double reported = snapshot.topology->coverage().OfRate(group, snapshot.Rates(row));
  const double rate = snapshot.Rates(row)[group];
  const auto truth = Share(interval, group);
  // Without an interval there is nothing to report, and nothing is.
  if (std::isnan(snapshot.Rates(row)[kResidentCycles])) return RC_ASSERT(std::isnan(reported) && std::isnan(rate));
  RC_ASSERT((truth ? IsNear(reported, *truth) : std::isnan(reported)));
  RC_ASSERT(std::isnan(rate) == (truth && *truth == 0));
}

void CheckRows(const World& world, const DeviceSnapshot& snapshot, uint64_t earlier) {
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    const mailbox::BlockHeader& block = snapshot.data.blocks[row];
    const auto life = world.CyclesOf(block, 0), interval = world.CyclesOf(block, earlier);
    for (size_t group = 0; group < kGroups; ++group) {
      CheckCount(snapshot, row, group, life);
      CheckRate(snapshot, row, group, interval);
    }
    const bool is_whole = std::ranges::all_of(life, [](const Cycle& cycle) { return cycle.open[0] && cycle.open[1]; });
    RC_ASSERT(((snapshot.data.blocks[row].flags & mailbox::kFlagPartial) == 0) == is_whole);
  }
}

void Step(World& world) {
  const auto vm = *rc::gen::inRange<uint16_t>(1, 3);
  const auto context = *rc::gen::inRange<uint16_t>(0, kContexts);
  switch (*rc::gen::weightedElement<int>({{12, 0}, {2, 1}, {1, 2}, {1, 3}})) {
    case 0: {
      // Open gates are the rule, so that whole rows are drawn, too.
      const auto open = [] { return *rc::gen::weightedElement<bool>({{4, true}, {1, false}}); };
      const bool a = open(), b = open();
      return world.Run({.vm = vm, .context = context, .open = {a, b}}, *rc::gen::inRange<uint64_t>(1, 40));
    }
    case 1:
      return world.Pass(*rc::gen::inRange<uint64_t>(1, 40));
    case 2:
      return world.Restart(vm, context);
    case 3:
      return world.Boot();
  }
}

TEST(GatedRowsTest, WhatIsReportedOfACountsTimeIsTrue) {
  EXPECT_TRUE(rc::check("coverage and the flag partial are those of the drawn history", [](bool with_secret) {
    World world(with_secret);
    std::shared_ptr<const DeviceSnapshot> before;
    const int snapshots = *rc::gen::inRange(1, 12);
    for (int i = 0; i < snapshots; ++i) {
      const int steps = *rc::gen::inRange(0, 5);
      for (int step = 0; step < steps; ++step) Step(world);
      const auto snapshot = world.Publish(before);
      const bool is_same_boot = before != nullptr && before->data.boot_id == snapshot->data.boot_id;
      CheckRows(world, *snapshot, is_same_boot ? before->data.snapshot_id : 0);
      before = snapshot;
    }
  }));
}

TEST(GatedRowsTest, WithoutGroupsNothingIsFlagged) {
  mailbox::Catalog catalog = GatedCatalog(false);
  catalog.gate_groups.clear();
  const Coverage coverage(catalog);
  mailbox::Snapshot snapshot{.counters_per_block = kEvents, .blocks = {{.vm = 0}}, .counters = {1, 2, 3, 100, 50, 0}};
  FlagPartialRows(coverage, snapshot);
  EXPECT_EQ(snapshot.blocks[0].flags, 0);
  std::vector<double> rates = {1, 2, 3, 100, 0, 0};
  DropUncountedRates(coverage, kEvents, rates);
  EXPECT_EQ(rates, (std::vector<double>{1, 2, 3, 100, 0, 0}));
}

}  // namespace
}  // namespace sideband::daemon
