// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/popcount.h"

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

}  // namespace
}  // namespace sideband::sim
