// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/pattern_table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "sim/workload/phase.h"

namespace sideband::sim {
namespace {

constexpr size_t kTableWires = 53;

std::vector<Pattern> RandomPatterns(std::mt19937_64& random, size_t phases, uint64_t rate_max) {
  std::vector<Pattern> patterns(phases * kTableWires);
  for (Pattern& pattern : patterns) {
    pattern.rate = random() % 4 == 0 ? rate_max : random() % (rate_max + 1);
    pattern.offset = random() % 4 == 0 ? UINT32_MAX : static_cast<uint32_t>(random());
  }
  return patterns;
}

// Often in the first or last cycle of a phase.
TurnPosition RandomPosition(std::mt19937_64& random, const std::vector<uint64_t>& phase_cycles) {
  const size_t phase = random() % phase_cycles.size();
  const uint64_t last = phase_cycles[phase] - 1;
  const uint64_t cycles[] = {0, last, random() % phase_cycles[phase]};
  return {random() % 3 == 0 ? random() >> 4 : random() % 2, phase, cycles[random() % 3]};
}

bool Later(const TurnPosition& a, const TurnPosition& b) {
  return std::tie(a.turns, a.phase, a.cycle) > std::tie(b.turns, b.phase, b.cycle);
}

// Compares the fast way for consecutive wires with the general way and with the definition.
void Check(const std::vector<uint64_t>& phase_cycles, uint64_t rate_max) {
  std::mt19937_64 random(phase_cycles.size() + rate_max);
  const PatternTable table(phase_cycles, RandomPatterns(random, phase_cycles.size(), rate_max));
  for (int i = 0; i < 3000; ++i) {
    TurnPosition begin = RandomPosition(random, phase_cycles);
    TurnPosition end = RandomPosition(random, phase_cycles);
    if (Later(begin, end)) std::swap(begin, end);
    std::vector<WireId> wires(1 + random() % kTableWires);
    std::iota(wires.begin(), wires.end(), static_cast<WireId>(random() % (kTableWires + 1 - wires.size())));
    std::vector<uint64_t> fast(wires.size(), i);
    table.AddConsecutiveCounts(begin, end, wires.front(), fast);
    std::vector<uint64_t> general(wires.size(), i);
    table.AddCounts(begin, end, wires, general);
    ASSERT_EQ(fast, general);
    for (size_t w = 0; w < wires.size(); ++w) {
      ASSERT_EQ(fast[w], i + table.CountBefore(wires[w], end) - table.CountBefore(wires[w], begin));
    }
  }
}

TEST(PatternTableTest, FastAndGeneralWaysAgree) {
  Check({1}, kRateOne - 1);
  Check({200'000, 40'000, 1, 7}, kRateOne - 1);
  Check({uint64_t{1} << 31, (uint64_t{1} << 31) - 1}, kRateOne - 1);  // the longest narrow turn
  Check({200'000, 40'000, 1, 7}, kRateOne);                           // wide because of a rate
  Check({uint64_t{1} << 31, uint64_t{1} << 31}, kRateOne - 1);        // wide because of the turn
  Check({uint64_t{1} << 61, 5, (uint64_t{1} << 61) - 5}, kRateOne);
}

TEST(PatternTableTest, KeepsItsPatterns) {
  for (const uint64_t rate_max : {kRateOne - 1, kRateOne}) {
    std::mt19937_64 random(9);
    const std::vector<Pattern> patterns = RandomPatterns(random, 3, rate_max);
    const PatternTable table(std::vector<uint64_t>{5, 6, 7}, patterns);
    for (size_t i = 0; i < patterns.size(); ++i) {
      const Pattern kept = table.pattern(static_cast<WireId>(i % kTableWires), i / kTableWires);
      EXPECT_EQ(kept.rate, patterns[i].rate);
      EXPECT_EQ(kept.offset, patterns[i].offset);
    }
  }
}

TEST(PatternTableTest, NoWiresCountNothing) {
  const PatternTable table(std::vector<uint64_t>{5}, {});
  for (const PatternTable& empty : {table, PatternTable()}) {
    empty.AddCounts({0, 0, 0}, {3, 0, 2}, {}, {});
    empty.AddConsecutiveCounts({0, 0, 0}, {3, 0, 2}, 0, {});
  }
}

}  // namespace
}  // namespace sideband::sim
