// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/gated_wires.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

using sim::CycleRange;
using sim::WireId;

// Wire w is 1 in cycle k as a hash says.
bool Bit(WireId wire, uint64_t cycle) { return ((cycle * 2654435761u + wire * 40503u) >> 7 & 3) == 0; }

class HashWires final : public sim::WireSource {
 public:
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += Bit(wires[i], cycle) ? 1 : 0;
    }
  }
};

// Cycle by cycle.
uint64_t Truth(CycleRange range, WireId wire, int group, const std::map<uint64_t, uint64_t>& changes) {
  uint64_t count = 0;
  for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) {
    const auto next = changes.upper_bound(cycle);
    const uint64_t open = next == changes.begin() ? 0 : std::prev(next)->second;
    if ((group < 0 || (open >> group & 1) != 0) && Bit(wire, cycle)) ++count;
  }
  return count;
}

TEST(GatedWiresTest, CountsWhileTheGroupIsOpen) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  std::map<uint64_t, uint64_t> changes;
  std::mt19937 random(5);
  for (uint64_t cycle = 0; cycle < 3000; cycle += 1 + random() % 90) {
    changes[cycle] = random() % 8;
    gated.Set(cycle, {.open = changes[cycle], .is_host = random() % 2 == 0}, 0);
  }
  for (int i = 0; i < 300; ++i) {
    const uint64_t begin = random() % 3000, end = begin + random() % 500;
    const std::vector<WireId> wires = {InGroup(4, 0), 7, InGroup(9, 2), InGroup(4, 1)};
    std::vector<uint64_t> sums(wires.size(), 1);
    gated.AddCounts({begin, end}, wires, sums);
    const std::vector<uint64_t> expected = {
        1 + Truth({begin, end}, 4, 0, changes), 1 + Truth({begin, end}, 7, -1, changes),
        1 + Truth({begin, end}, 9, 2, changes), 1 + Truth({begin, end}, 4, 1, changes)};
    ASSERT_EQ(sums, expected) << begin << " to " << end;
  }
}

TEST(GatedWiresTest, ConsecutiveWiresOfOneGroup) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  gated.Set(100, {.open = 0b10}, 100);
  gated.Set(250, {.open = 0b01}, 250);
  gated.Set(300, {.open = 0b11}, 300);
  for (const int group : {-1, 0, 1}) {
    std::vector<uint64_t> sums(70), expected;
    const WireId first = group < 0 ? 11 : InGroup(11, static_cast<uint8_t>(group));
    gated.AddConsecutiveCounts({50, 400}, first, sums);
    for (WireId wire = 11; wire < 11 + 70; ++wire) {
      expected.push_back(Truth({50, 400}, wire, group, {{100, 0b10}, {250, 0b01}, {300, 0b11}}));
    }
    EXPECT_EQ(sums, expected) << "group " << group;
  }
}

// The numbers go on from the last wires of a group to the clock behind its gate, and to the next group.
TEST(GatedWiresTest, RunsEndWithTheirGroup) {
  const sim::ClockedSource source(std::make_shared<HashWires>());
  GatedWires gated;
  gated.Attach(source);
  gated.Set(0, {.open = 0b10}, 0);
  gated.Set(400, {.open = 0b11}, 400);
  std::vector<WireId> wires;
  for (WireId wire = kGatedClockWire - 6; wire <= kGatedClockWire; ++wire) wires.push_back(InGroup(wire, 0));
  for (WireId wire = 0; wire < 6; ++wire) wires.push_back(InGroup(wire, 1));
  std::vector<uint64_t> sums(wires.size(), 1);
  gated.AddCounts({100, 1000}, wires, sums);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(sums[i], 1 + Truth({400, 1000}, kGatedClockWire - 6 + static_cast<WireId>(i), -1, {})) << i;
    EXPECT_EQ(sums[7 + i], 1 + Truth({100, 1000}, static_cast<WireId>(i), -1, {})) << i;
  }
  EXPECT_EQ(sums[6], 1 + 600u);
}

TEST(GatedWiresTest, TheLast64thGroupIsOneOfThem) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  gated.Set(0, {.open = uint64_t{1} << 63}, 0);
  const std::vector<WireId> wires = {InGroup(kGatedClockWire - 1, 63), InGroup(5, 62)};
  std::vector<uint64_t> sums(2);
  gated.AddCounts({0, 1000}, wires, sums);
  EXPECT_EQ(sums[0], Truth({0, 1000}, kGatedClockWire - 1, -1, {}));
  EXPECT_EQ(sums[1], 0u);
}

TEST(GatedWiresTest, TheClockBehindAGateIsTheTimeInWhichItIsOpen) {
  const sim::ClockedSource source(std::make_shared<HashWires>());
  GatedWires gated;
  gated.Attach(source);
  gated.Set(100, {.open = 0b1}, 100);
  gated.Set(350, {.open = 0b0}, 350);
  std::vector<uint64_t> sums(1);
  gated.AddConsecutiveCounts({0, 1000}, InGroup(kGatedClockWire, 0), sums);
  gated.AddCounts({200, 400}, {{InGroup(kGatedClockWire, 0)}}, sums);
  EXPECT_EQ(sums[0], 250u + 150u);
  gated.AddConsecutiveCounts({0, 1000}, sim::ClockedSource::kClockWire, sums);
  EXPECT_EQ(sums[0], 1400u) << "the clock itself has no gate";
}

TEST(GatedWiresTest, KeepsTheHistoryThatDelayedCountsNeed) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  std::map<uint64_t, uint64_t> changes;
  for (uint64_t cycle = 0; cycle < 100'000; cycle += 10) {
    changes[cycle] = cycle / 10 % 2;
    gated.Set(cycle, {.open = changes[cycle]}, cycle);
    if (cycle < sim::kHistoryCycles || cycle % 1000 != 0) continue;
    const CycleRange range{cycle - sim::kHistoryCycles, cycle};
    std::vector<uint64_t> sums(1);
    gated.AddConsecutiveCounts(range, InGroup(3, 0), sums);
    ASSERT_EQ(sums[0], Truth(range, 3, 0, changes)) << cycle;
  }
}

}  // namespace
}  // namespace sideband::mcu
