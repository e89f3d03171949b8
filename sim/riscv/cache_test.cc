// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <optional>
#include <random>
#include <vector>

namespace sideband::riscv {
namespace {

TEST(CacheTest, ALineIsPresentAfterItsFirstAccess) {
  Cache cache({.bytes = 1024, .ways = 2}, 64);
  EXPECT_FALSE(cache.Contains(0));
  EXPECT_FALSE(cache.Access(0, false).hit) << "line 0 is not taken for an empty way";
  EXPECT_TRUE(cache.Access(0, false).hit);
  EXPECT_TRUE(cache.Contains(0));
  EXPECT_FALSE(cache.Access(8, true).hit) << "write-allocate";
  EXPECT_TRUE(cache.Access(8, false).hit);
}

TEST(CacheTest, TheOldestLineOfTheSetLeaves) {
  Cache cache({.bytes = 3 * 64, .ways = 3}, 64);
  for (const uint64_t line : {1, 2, 3}) cache.Access(line, false);
  cache.Access(1, false);
  cache.Access(4, false);
  EXPECT_TRUE(cache.Contains(1));
  EXPECT_FALSE(cache.Contains(2));
  EXPECT_TRUE(cache.Contains(3));
}

TEST(CacheTest, OnlyModifiedLinesAreWrittenBack) {
  Cache cache({.bytes = 64, .ways = 1}, 64);
  cache.Access(1, true);
  EXPECT_EQ(cache.Access(2, false).written_back, 1u);
  EXPECT_EQ(cache.Access(3, false).written_back, std::nullopt);
  cache.Access(3, true);
  cache.Access(3, false);
  EXPECT_EQ(cache.Access(1, true).written_back, 3u) << "a read leaves it modified";
  EXPECT_EQ(cache.Access(2, true).written_back, 1u);
}

TEST(CacheTest, AModifiedLineStaysSoWhereverItStands) {
  Cache cache({.bytes = 4 * 64, .ways = 4}, 64);
  cache.Access(1, true);
  for (const uint64_t line : {2, 3, 4, 1, 2, 3, 4}) cache.Access(line, false);
  EXPECT_EQ(cache.Access(5, false).written_back, 1u);
}

TEST(CacheTest, TheLargestLineNumber) {
  Cache cache({.bytes = 128, .ways = 2}, 64);
  const uint64_t line = (uint64_t{1} << 61) - 1;
  EXPECT_FALSE(cache.Access(line, true).hit);
  EXPECT_TRUE(cache.Access(line, false).hit);
  cache.Access(1, false);
  EXPECT_EQ(cache.Access(2, false).written_back, line);
}

TEST(CacheTest, CountsAreInTheReferencesTerms) {
  CacheCounts counts;
  counts.Add(false, {.hit = true});
  counts.Add(false, {.hit = false, .written_back = 7});
  counts.Add(true, {.hit = true});
  counts.Add(true, {.hit = true});
  counts.Add(true, {.hit = false, .written_back = 0});
  EXPECT_EQ(counts, (CacheCounts{.reads = 2, .read_misses = 1, .writes = 3, .write_misses = 1, .writebacks = 2}));
}

// The definition, slowly: of each set a list of lines, the newest first.
class SlowCache {
 public:
  SlowCache(size_t sets, size_t ways) : ways_(ways), sets_(sets) {}

  Cache::Outcome Access(uint64_t line, bool write) {
    std::list<Line>& set = sets_[line % sets_.size()];
    Cache::Outcome outcome;
    Line entry{line, false};
    for (auto it = set.begin(); it != set.end(); ++it) {
      if (it->number != line) continue;
      entry = *it;
      outcome.hit = true;
      set.erase(it);
      break;
    }
    entry.modified |= write;
    set.push_front(entry);
    if (set.size() > ways_) {
      if (set.back().modified) outcome.written_back = set.back().number;
      set.pop_back();
    }
    return outcome;
  }

 private:
  struct Line {
    uint64_t number;
    bool modified;
  };
  const size_t ways_;
  std::vector<std::list<Line>> sets_;
};

TEST(CacheTest, EqualsItsDefinitionOnRandomAccesses) {
  std::mt19937_64 random(1);
  for (const uint32_t ways : {1, 2, 3, 8, 32}) {
    for (const uint32_t sets : {1, 2, 16}) {
      Cache cache({.bytes = sets * ways * 64, .ways = ways}, 64);
      SlowCache slow(sets, ways);
      for (int i = 0; i < 20'000; ++i) {
        const uint64_t line = random() % (2 * sets * ways);
        const bool write = random() % 3 == 0;
        const Cache::Outcome outcome = cache.Access(line, write);
        const Cache::Outcome expected = slow.Access(line, write);
        ASSERT_EQ(outcome.hit, expected.hit) << i;
        ASSERT_EQ(outcome.written_back, expected.written_back) << i;
      }
    }
  }
}

}  // namespace
}  // namespace sideband::riscv
