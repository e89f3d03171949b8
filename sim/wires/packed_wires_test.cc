// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/packed_wires.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sideband::sim {
namespace {

uint64_t CountBitByBit(const uint64_t* row, CycleRange bits) {
  uint64_t count = 0;
  for (uint64_t bit = bits.begin; bit < bits.end; ++bit) count += row[bit / 64] >> bit % 64 & 1;
  return count;
}

std::vector<uint64_t> RandomWords(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words(size);
  for (uint64_t& word : words) word = random();
  return words;
}

class PopcountTest : public testing::TestWithParam<PopcountPath> {
 protected:
  void ExpectEqualsBitByBit(BitRows words, CycleRange bits, const std::vector<WireId>& rows) {
    std::vector<uint64_t> sums(rows.size());
    std::iota(sums.begin(), sums.end(), 1000);
    AddPopcounts(GetParam(), words, bits, rows, sums);
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(sums[i], 1000 + i + CountBitByBit(words.words + rows[i] * words.stride, bits))
          << "bits " << bits.begin << " to " << bits.end << " of row " << rows[i];
    }
  }
};

TEST_P(PopcountTest, CountsShortRangesAtEveryPlaceOfALine) {
  const std::vector<uint64_t> words = RandomWords(24, 1);
  for (uint64_t begin = 0; begin < 520; ++begin) {
    for (uint64_t size = 0; size <= 200; ++size) {
      ExpectEqualsBitByBit({words.data(), 0}, {begin, begin + size}, {0});
    }
  }
}

TEST_P(PopcountTest, CountsRandomRangesOfManyRows) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    const size_t stride = 1 + random() % 160;
    const std::vector<uint64_t> words = RandomWords(20 * stride + 8, random());
    const uint64_t begin = random() % (stride * 64 + 1);
    const uint64_t end = begin + random() % (stride * 64 + 1 - begin);
    std::vector<WireId> rows(random() % 60);
    for (WireId& row : rows) row = static_cast<WireId>(random() % 20);
    ExpectEqualsBitByBit({words.data() + random() % 8, stride}, {begin, end}, rows);
  }
}

TEST_P(PopcountTest, CountsEveryBitOfFullRows) {
  const std::vector<uint64_t> words(1000, ~uint64_t{0});
  ExpectEqualsBitByBit({words.data(), 0}, {0, 64'000}, {0});
  ExpectEqualsBitByBit({words.data(), 0}, {1, 63'999}, {0});
}

// Unreadable pages surround the words; a read beyond them crashes the test.
TEST_P(PopcountTest, ReadsNoOtherWord) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const middle = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(middle, page, PROT_READ | PROT_WRITE), 0);
  auto* const words = reinterpret_cast<uint64_t*>(middle);
  const size_t size = page / sizeof(uint64_t);
  const std::vector<uint64_t> random = RandomWords(size, 3);
  std::copy(random.begin(), random.end(), words);
  for (size_t count = 1; count <= 80; ++count) {
    ExpectEqualsBitByBit({words + size - count, 0}, {0, count * 64}, {0});
    ExpectEqualsBitByBit({words + size - count, 0}, {7, count * 64 - 5}, {0});
    // The row starts in the unreadable page, which the range does not touch.
    ExpectEqualsBitByBit({words - 3, 0}, {192, 192 + count * 64}, {0});
  }
  munmap(pages, 3 * page);
}

INSTANTIATE_TEST_SUITE_P(Paths, PopcountTest, testing::ValuesIn(SupportedPaths().begin(), SupportedPaths().end()),
                         [](const auto& info) { return std::string(PopcountPathName(info.param)); });

TEST(PopcountPathTest, PortableIsAlwaysThereAndTheFastestIsTheLast) {
  EXPECT_EQ(SupportedPaths().front(), PopcountPath::kPortable);
  EXPECT_EQ(SupportedPaths().back(), FastestPath());
  EXPECT_TRUE(std::is_sorted(SupportedPaths().begin(), SupportedPaths().end()));
}

uint64_t Count(const PackedWires& window, WireId wire, CycleRange range) {
  uint64_t sum = 0;
  window.AddCounts(range, std::span(&wire, 1), std::span(&sum, 1));
  return sum;
}

TEST(PackedWiresTest, CountsRunsAtTheEdgesOfWords) {
  const struct {
    CycleRange run;
    CycleRange range;
    uint64_t count;
  } kRows[] = {
      {{0, 0}, {0, 256}, 0},       // an empty run
      {{0, 1}, {0, 256}, 1},       // the first bit
      {{255, 256}, {0, 256}, 1},   // the last bit
      {{0, 256}, {0, 256}, 256},   // everything
      {{63, 65}, {0, 256}, 2},     // across a word's edge
      {{64, 128}, {64, 128}, 64},  // exactly a word
      {{64, 128}, {63, 129}, 64},  // a range with a cycle more on each side
      {{64, 128}, {65, 127}, 62},  // a range with a cycle less on each side
      {{0, 256}, {100, 100}, 0},   // an empty range
      {{0, 256}, {10, 20}, 10},    // within one word
      {{0, 256}, {0, 192}, 192},   // up to a word's edge
  };
  for (const auto& row : kRows) {
    PackedWires window(2, 256);
    window.Reset(0);
    window.ExtendTo(256);
    window.SetRun(1, row.run);
    EXPECT_EQ(Count(window, 1, row.range), row.count) << row.run.begin << "-" << row.run.end;
    EXPECT_EQ(Count(window, 0, {0, 256}), 0u) << "the other wire";
  }
}

TEST(PackedWiresTest, CyclesOutsideTheWindowCountAsZero) {
  PackedWires window(1, 128);
  window.Reset(1000);
  window.SetRun(0, {1000, 1100});
  window.ExtendTo(1050);
  EXPECT_EQ(Count(window, 0, {0, 2000}), 50u);
  EXPECT_EQ(Count(window, 0, {0, 1000}), 0u);
  EXPECT_EQ(Count(window, 0, {0, 1001}), 1u);
  EXPECT_EQ(Count(window, 0, {1049, 2000}), 1u);
  EXPECT_EQ(Count(window, 0, {1050, 2000}), 0u);
  window.ExtendTo(1060);
  EXPECT_EQ(Count(window, 0, {0, 2000}), 60u) << "set before the window reached it";
}

TEST(PackedWiresTest, ResetClears) {
  PackedWires window(1, 64);
  window.Set(0, 5);
  window.Reset(64);
  window.ExtendTo(128);
  EXPECT_EQ(Count(window, 0, {64, 128}), 0u);
  EXPECT_EQ(window.range(), (CycleRange{64, 128}));
}

TEST(PackedWiresTest, CapacityIsRoundedUp) {
  EXPECT_EQ(PackedWires(1, 0).capacity(), 0u);
  EXPECT_EQ(PackedWires(1, 1).capacity(), 64u);
  EXPECT_EQ(PackedWires(1, 64).capacity(), 64u);
  EXPECT_EQ(PackedWires(1, 65).capacity(), 128u);
}

TEST(PackedWiresTest, CountsEqualBitByBit) {
  std::mt19937_64 random(1);
  PackedWires window(1, 512);
  window.Reset(77);
  window.ExtendTo(77 + 512);
  for (int i = 0; i < 10; ++i) {
    const uint64_t begin = 77 + random() % 512;
    window.SetRun(0, {begin, begin + random() % (77 + 512 - begin + 1)});
    window.Set(0, 77 + random() % 512);
  }
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = 77 + random() % 512;
    const uint64_t end = begin + random() % (77 + 512 - begin + 1);
    uint64_t naive = 0;
    for (uint64_t cycle = begin; cycle < end; ++cycle) naive += window.Bit(0, cycle) ? 1 : 0;
    ASSERT_EQ(Count(window, 0, {begin, end}), naive) << begin << " " << end;
  }
}

TEST(PackedWiresTest, SlideKeepsTheHistoryCountable) {
  PackedWires window(2, 128, 100);
  window.Reset(1000);
  window.SetRun(1, {1000, 1128});
  window.ExtendTo(1120);
  window.Slide();
  EXPECT_EQ(window.range(), (CycleRange{1120, 1120}));
  EXPECT_EQ(Count(window, 1, {1020, 1120}), 100u);
  EXPECT_EQ(Count(window, 1, {0, 2000}), 100u) << "what is older counts as 0";
  EXPECT_EQ(Count(window, 0, {0, 2000}), 0u) << "the other wire";
  window.ExtendTo(1200);
  EXPECT_EQ(Count(window, 1, {1020, 1200}), 108u) << "set before the window began";
  window.Slide();
  EXPECT_EQ(Count(window, 1, {0, 2000}), 28u);
  window.Reset(1200);
  EXPECT_EQ(Count(window, 1, {0, 2000}), 0u) << "Reset forgets the history";
}

TEST(PackedWiresTest, HistoryIsLimitedByCycleZero) {
  PackedWires window(1, 64, 1024);
  window.SetRun(0, {0, 40});
  window.ExtendTo(40);
  for (int i = 0; i < 3; ++i) window.Slide();
  EXPECT_EQ(Count(window, 0, {0, 40}), 40u);
  window.SetRun(0, {40, 104});
  window.ExtendTo(104);
  window.Slide();
  EXPECT_EQ(Count(window, 0, {0, 104}), 104u);
}

TEST(PackedWiresTest, WordsStartWithTheWindow) {
  PackedWires window(2, 128, 70);
  window.Reset(640);
  window.ExtendTo(768);
  window.Slide();
  window.Set(1, 768 + 65);
  ASSERT_EQ(window.words(1).size(), 2u);
  EXPECT_EQ(window.words(1)[0], 0u);
  EXPECT_EQ(window.words(1)[1], 2u);
  window.ExtendTo(770);
  window.Slide();
  ASSERT_EQ(window.words(1).size(), 3u) << "128 cycles that begin within a word";
  EXPECT_EQ(window.words(1)[1], 2u);
}

// Windows of random sizes over the same random runs.
TEST(PackedWiresTest, SlidingWindowsEqualOneLongWindow) {
  for (const PopcountPath path : SupportedPaths()) {
    std::mt19937_64 random(5);
    for (const uint64_t history : {0, 1, 63, 64, 1000, 1024}) {
      PackedWires all(3, 20'000);
      all.ExtendTo(20'000);
      PackedWires window(3, 1500, history, path);
      while (window.range().end + 1500 < 20'000) {
        window.Slide();
        const uint64_t begin = window.range().begin;
        for (WireId wire = 0; wire < 3; ++wire) {
          for (int i = 0; i < 4; ++i) {
            const uint64_t run = begin + random() % 1500;
            const CycleRange cycles{run, run + random() % (begin + 1500 - run + 1)};
            all.SetRun(wire, cycles);
            window.SetRun(wire, cycles);
          }
        }
        window.ExtendTo(begin + random() % 1501);
        const uint64_t held = begin - std::min(begin, history);
        for (int i = 0; i < 30; ++i) {
          const uint64_t first = held + random() % (window.range().end - held + 1);
          const CycleRange range{first, first + random() % (window.range().end - first + 1)};
          for (WireId wire = 0; wire < 3; ++wire) ASSERT_EQ(Count(window, wire, range), Count(all, wire, range));
        }
      }
    }
  }
}

}  // namespace
}  // namespace sideband::sim
