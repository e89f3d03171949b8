// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/pattern_table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "sim/workload/workload.h"

namespace sideband::sim {
namespace {

constexpr size_t kKernelWires = 45;

using Wide = unsigned __int128;

uint64_t Ones(uint64_t cycles, uint64_t rate, uint32_t offset) {
  return static_cast<uint64_t>((Wide{cycles} * rate + offset) >> 32);
}

// Random columns with extreme values among them.
template <typename Word>
std::vector<Word> RandomColumn(std::mt19937_64& random, uint64_t max) {
  std::vector<Word> column(kKernelWires + kPatternBlock);
  for (Word& value : column) value = static_cast<Word>(random() % 8 == 0 ? max : random() % (max + 1));
  column[0] = 0;
  return column;
}

template <typename Word>
void CheckWithin(void (*kernel)(PhaseColumns<Word>, uint64_t, uint64_t, uint64_t*, size_t), uint64_t rate_max) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto rates = RandomColumn<Word>(random, rate_max);
    const auto offsets = RandomColumn<uint32_t>(random, UINT32_MAX);
    const uint64_t begin = random() >> (2 + random() % 62);
    const uint64_t length = i % 5 == 0 ? uint64_t{1} << 31 : random() >> (33 + random() % 31);
    const size_t count = random() % (kKernelWires + 1);
    std::vector<uint64_t> sums(kKernelWires, 7);
    kernel({rates.data(), offsets.data()}, begin, length, sums.data(), count);
    for (size_t w = 0; w < kKernelWires; ++w) {
      const uint64_t ones = Ones(begin + length, rates[w], offsets[w]) - Ones(begin, rates[w], offsets[w]);
      ASSERT_EQ(sums[w], 7 + (w < count ? ones : 0)) << begin << " + " << length << " wire " << w << " of " << count;
    }
  }
}

TEST(PatternKernelsTest, WithinIsTheDifferenceOfPrefixes) {
  for (const PatternKernels& kernels : SupportedPatternKernels()) {
    CheckWithin<uint32_t>(kernels.within32, UINT32_MAX);
    CheckWithin<uint64_t>(kernels.within64, kRateOne);
  }
}

TEST(PatternKernelsTest, AcrossAddsTheTurnsBetween) {
  for (const PatternKernels& kernels : SupportedPatternKernels()) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 2000; ++i) {
      const auto turn = RandomColumn<uint32_t>(random, UINT32_MAX);
      const auto before = RandomColumn<uint32_t>(random, UINT32_MAX);
      const auto rates = RandomColumn<uint32_t>(random, UINT32_MAX);
      const auto offsets = RandomColumn<uint32_t>(random, UINT32_MAX);
      const auto before_end = RandomColumn<uint32_t>(random, UINT32_MAX);
      const uint64_t begin = i % 5 == 0 ? UINT32_MAX : random() >> 32;
      const uint64_t end = i % 7 == 0 ? UINT32_MAX : random() >> 32;
      const uint64_t turns = random() >> random() % 64;
      std::vector<uint64_t> sums(kKernelWires, 7);
      kernels.across32({{rates.data(), offsets.data()}, before.data(), begin},
                       {{offsets.data(), rates.data()}, before_end.data(), end}, turn.data(), turns, sums.data(),
                       kKernelWires);
      for (size_t w = 0; w < kKernelWires; ++w) {
        ASSERT_EQ(sums[w], 7 + turns * turn[w] + before_end[w] + Ones(end, offsets[w], rates[w]) - before[w] -
                               Ones(begin, rates[w], offsets[w]));
      }
    }
  }
}

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
