// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/bookmark_rings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sideband::mcu {
namespace {

void AskAndServe(BookmarkRings& rings, BlockId block, uint32_t bookmark) {
  rings.Ask(block, {.bookmark = bookmark, .asked_ns = 10});
  rings.Serve(block, 20, std::vector<uint64_t>{bookmark, 7});
}

TEST(BookmarkRingsTest, WhatIsServedHasItsCountersAndBothTimes) {
  BookmarkRings rings;
  rings.Ask(3, {.bookmark = 17, .asked_ns = 10});
  EXPECT_TRUE(rings.IsPending(3));
  EXPECT_FALSE(rings.IsPending(2));
  EXPECT_TRUE(rings.kept().empty());
  rings.Serve(3, 20, std::vector<uint64_t>{5, 6});
  EXPECT_TRUE(rings.pending().empty());
  ASSERT_EQ(rings.kept().size(), 1u);
  const KeptBookmark& kept = rings.kept()[0];
  EXPECT_EQ(kept.number, 1u);
  EXPECT_EQ(kept.block, 3u);
  EXPECT_EQ(kept.asked.bookmark, 17u);
  EXPECT_EQ(kept.asked.asked_ns, 10u);
  EXPECT_EQ(kept.served_ns, 20u);
  EXPECT_EQ(kept.counters, (std::vector<uint64_t>{5, 6}));
}

TEST(BookmarkRingsTest, TheNewestEightOfABlockAreKept) {
  BookmarkRings rings;
  AskAndServe(rings, 1, 100);
  for (uint32_t bookmark = 0; bookmark < 12; ++bookmark) AskAndServe(rings, 2, bookmark);
  ASSERT_EQ(rings.kept().size(), 9u) << "those of another block stay";
  EXPECT_EQ(rings.kept()[0].asked.bookmark, 100u);
  EXPECT_EQ(rings.kept()[1].asked.bookmark, 4u);
  EXPECT_EQ(rings.kept()[1].number, 6u);
  EXPECT_EQ(rings.kept()[8].number, 13u);
}

TEST(BookmarkRingsTest, WhatBeginsAnewHasNone) {
  BookmarkRings rings;
  AskAndServe(rings, 1, 1);
  AskAndServe(rings, 2, 2);
  rings.Ask(1, {.bookmark = 3});
  rings.Forget(1);
  EXPECT_FALSE(rings.IsPending(1));
  ASSERT_EQ(rings.kept().size(), 1u);
  EXPECT_EQ(rings.kept()[0].block, 2u);
  AskAndServe(rings, 1, 4);
  EXPECT_EQ(rings.kept()[1].number, 3u) << "numbers are never used again";
}

}  // namespace
}  // namespace sideband::mcu
