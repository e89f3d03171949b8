// SPDX-License-Identifier: Apache-2.0
//
// Bookmarks of a chip (clocks.md, "Bookmarks"; law 9).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kGrid = 1000;

class ChipBookmarksTest : public testing::Test {
 protected:
  ChipBookmarksTest() { chip_->SetTriggerGrid(kGrid); }

  BlockId ContextOf(size_t binding) const { return *chip_.bindings()[binding].context; }
  // What an event of the slices' own clock gains below a cycle of the reference clock.
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
