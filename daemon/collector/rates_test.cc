// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "daemon/snapshot/fake_rotation.h"

namespace sideband::daemon {
namespace {

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

}  // namespace
}  // namespace sideband::daemon
