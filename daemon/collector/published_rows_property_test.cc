// SPDX-License-Identifier: Apache-2.0
//
// V12, honest: what the daemon reports of a count's time is true (docs/design/virtual-counters.md). The truth is a list
// of all cycles that were ever resident, each with its gates, which no counter has.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/collector/published_rows.h"
#include "daemon/collector/redact.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;

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

  // As DeviceCollector publishes it.
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
