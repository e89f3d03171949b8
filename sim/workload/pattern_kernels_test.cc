// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/pattern_kernels.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "sim/workload/phase.h"

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

}  // namespace
}  // namespace sideband::sim
