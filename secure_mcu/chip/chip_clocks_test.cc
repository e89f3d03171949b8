// SPDX-License-Identifier: Apache-2.0
//
// The clocks by which units count, and bookmarks (clocks.md, "Bookmarks"; law 9).
#include "secure_mcu/chip/chip_clocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/clocked_chip.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

// Domain d has the edges of its list.
class ListedEdges final : public sim::WireSource {
 public:
  explicit ListedEdges(std::vector<uint64_t> edges) : edges_(std::move(edges)) {}
  void AddCounts(sim::CycleRange, std::span<const sim::WireId>, std::span<uint64_t>) const override {}
  uint64_t CyclesBefore(size_t, uint64_t cycle) const override {
    ++asked_;
    return static_cast<uint64_t>(std::ranges::lower_bound(edges_, cycle) - edges_.begin());
  }
  size_t asked() const { return asked_; }

 private:
  const std::vector<uint64_t> edges_;
  mutable size_t asked_ = 0;
};

TEST(UnitClocksTest, UnitsOfOneClockShareIt) {
  UnitClocks clocks(2);
  EXPECT_EQ(clocks.Add(0, 1), clocks.Add(0, 1));
  EXPECT_NE(clocks.Add(0, 1), clocks.Add(1, 1));
  EXPECT_NE(clocks.Add(0, 1), clocks.Add(0, 2));
  const ListedEdges wires({3, 6, 9});
  clocks.Attach(0, wires, 0);
  const size_t before = wires.asked();
  clocks.AdvanceTo(7);
  EXPECT_EQ(clocks.edges(clocks.Add(0, 1)), 2u);
  EXPECT_EQ(wires.asked() - before, 2u) << "once for each clock";
}

TEST(UnitClocksTest, WithoutWiresAndInDomain0ItIsTheReferenceClock) {
  UnitClocks clocks(1);
  const size_t other = clocks.Add(0, 1), reference = clocks.Add(0, 0);
  clocks.AdvanceTo(7);
  EXPECT_EQ(clocks.edges(other), 7u);
  const ListedEdges wires({3, 6, 9});
  clocks.Attach(0, wires, 7);
  EXPECT_EQ(clocks.edges(other), 2u);
  EXPECT_EQ(clocks.edges(reference), 7u);
  EXPECT_EQ(clocks.FirstAfter(reference, 5, 100), 12u);
  EXPECT_EQ(clocks.FirstAfter(reference, 5, 9), 9u);
}

RC_GTEST_PROP(UnitClocksPropertyTest, TheFirstCycleIsThatOfASearchOneByOne, ()) {
  // With gaps, as of a clock that stops, and several edges in a cycle.
  std::vector<uint64_t> edges;
  for (uint64_t at = 0; edges.size() < 60; at += *rc::gen::element<uint64_t>(0, 1, 1, 2, 3, 40)) edges.push_back(at);
  const ListedEdges wires(edges);
  UnitClocks clocks(1);
  const size_t clock = clocks.Add(0, 1);
  clocks.Attach(0, wires, 0);
  uint64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    clocks.AdvanceTo(now += *rc::gen::inRange<uint64_t>(0, 20));
    const uint64_t more = *rc::gen::inRange<uint64_t>(1, 12), end = now + *rc::gen::inRange<uint64_t>(1, 100);
    RC_ASSERT(clocks.edges(clock) == wires.CyclesBefore(1, now));
    uint64_t expected = now + 1;
    while (expected < end && wires.CyclesBefore(1, expected) < clocks.edges(clock) + more) ++expected;
    RC_ASSERT(clocks.FirstAfter(clock, more, end) == expected);
  }
}

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

constexpr uint64_t kGrid = 1000;

class ChipBookmarksTest : public testing::Test {
 protected:
  ChipBookmarksTest() { chip_->SetTriggerGrid(kGrid); }

  BlockId ContextOf(size_t binding) const { return *chip_.bindings()[binding].context; }
  // The gain of an event of the slices' own clock below a cycle of the reference clock.
  static uint64_t Truth(ClockedChip& chip, uint16_t event, size_t row, uint64_t cycle) {
    const sim::DomainClock clock = chip.ClockOf(chip->clocks().domains()[row]);
    return MultiplesSource::CountBelow(ClockedChip::EveryOf(event), clock.EdgesBefore(sim::InstantAtCycle(cycle) + 1));
  }

  ClockedChip chip_;
};

TEST_F(ChipBookmarksTest, AResidentIsServedAtTheNextTriggerOfTheGridExactly) {
  chip_->AdvanceTo(5300);
  chip_->AskBookmark(ContextOf(0), 17);
  chip_->AdvanceTo(5999);
  EXPECT_TRUE(chip_->bookmarks().kept().empty());
  chip_->AdvanceTo(9999);
  ASSERT_EQ(chip_->bookmarks().kept().size(), 1u);
  const KeptBookmark& kept = chip_->bookmarks().kept()[0];
  EXPECT_EQ(kept.asked.bookmark, 17u);
  EXPECT_EQ(kept.asked.asked_ns, 5300u);
  EXPECT_EQ(kept.served_ns, 6000u);
  EXPECT_EQ(kept.counters[ClockedChip::kSm], Truth(chip_, ClockedChip::kSm, 0, 6000));
  EXPECT_EQ(kept.counters[ClockedChip::kL2], Truth(chip_, ClockedChip::kL2, 1, 6000));
}

TEST_F(ChipBookmarksTest, OneWhoIsNotResidentHasWhatItHadAtItsSwitchOut) {
  chip_->AdvanceTo(5300);
  chip_->SwitchTo(0, chip_.bindings()[2]);
  const std::span<const uint64_t> counters = chip_->memory().counters(ContextOf(0));
  const std::vector<uint64_t> final(counters.begin(), counters.end());
  chip_->AskBookmark(ContextOf(0), 1);
  chip_->AdvanceTo(7000);
  ASSERT_EQ(chip_->bookmarks().kept().size(), 1u);
  EXPECT_EQ(chip_->bookmarks().kept()[0].counters, final);
  EXPECT_EQ(chip_->bookmarks().kept()[0].served_ns, 6000u);
}

TEST_F(ChipBookmarksTest, ASwitchOutServesTheContextThatLeaves) {
  chip_->AdvanceTo(5300);
  chip_->AskBookmark(ContextOf(0), 1);
  chip_->AskBookmark(ContextOf(1), 2);
  chip_->SwitchTo(0, chip_.bindings()[2]);
  ASSERT_EQ(chip_->bookmarks().kept().size(), 1u);
  EXPECT_EQ(chip_->bookmarks().kept()[0].served_ns, 5300u);
  EXPECT_EQ(chip_->bookmarks().kept()[0].counters[ClockedChip::kL2], Truth(chip_, ClockedChip::kL2, 1, 5300));
  EXPECT_TRUE(chip_->bookmarks().IsPending(ContextOf(1))) << "of another slice";
}

TEST_F(ChipBookmarksTest, AVmIsServedWithWhatAllOfItsContextsHaveCounted) {
  chip_->AdvanceTo(5300);
  const BlockId vm = chip_.bindings()[0].vm;
  chip_->AskBookmark(vm, 3);
  chip_->AskBookmark(ContextOf(0), 4);
  chip_->AskBookmark(ContextOf(1), 5);
  chip_->AdvanceTo(6000);
  const auto& kept = chip_->bookmarks().kept();
  ASSERT_EQ(kept.size(), 3u);
  for (const uint16_t event : {ClockedChip::kSm, ClockedChip::kL2}) {
    EXPECT_EQ(kept[0].counters[event], kept[1].counters[event] + kept[2].counters[event]);
  }
}

TEST_F(ChipBookmarksTest, NoneWaitsWithoutAGrid) {
  chip_->AdvanceTo(5300);
  chip_->AskBookmark(chip_.bindings()[0].vm, 3);
  chip_->SetTriggerGrid(0);
  ASSERT_EQ(chip_->bookmarks().kept().size(), 1u);
  EXPECT_EQ(chip_->bookmarks().kept()[0].served_ns, 5300u);
}

// Law 9: others, and the numbers of triggers, are as without any bookmark.
TEST_F(ChipBookmarksTest, NobodyElseCanTell) {
  ClockedChip other;
  other->SetTriggerGrid(kGrid);
  for (uint64_t cycle = 500; cycle < 20'000; cycle += 700) {
    chip_->AdvanceTo(cycle);
    other->AdvanceTo(cycle);
    if (!chip_->bookmarks().IsPending(ContextOf(0))) chip_->AskBookmark(ContextOf(0), 1);
  }
  EXPECT_GT(chip_->bookmarks().kept().size(), 5u);
  EXPECT_EQ(chip_->Latch(), other->Latch()) << "the trigger's number";
  for (const BlockId block : {BlockId{0}, ContextOf(1), chip_.bindings()[0].vm}) {
    EXPECT_TRUE(std::ranges::equal(chip_->memory().counters(block), other->memory().counters(block))) << block;
    EXPECT_EQ(chip_->memory().header(block).flags, other->memory().header(block).flags) << block;
  }
  EXPECT_EQ(chip_->memory().header(ContextOf(1)), other->memory().header(ContextOf(1)));
  EXPECT_EQ(chip_.Packets(), other.Packets());
}

}  // namespace
}  // namespace sideband::mcu
