// SPDX-License-Identifier: Apache-2.0
//
// The parts of a chip, among them its bookmarks (clocks.md, "Bookmarks"; law 9).
#include "secure_mcu/chip/chip_parts.h"

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

TEST(PrivateSlicesTest, EachSliceHasItsOwnResident) {
  PrivateSlices slices;
  slices.Bind(0, true);
  slices.Bind(63, true);
  slices.Bind(62, false);
  EXPECT_TRUE(slices.Contains(0) && slices.Contains(63));
  EXPECT_FALSE(slices.Contains(1) || slices.Contains(62) || slices.Contains(kDeviceChannel));
  slices.Bind(0, false);
  EXPECT_FALSE(slices.Contains(0));
  EXPECT_TRUE(slices.Contains(63));
}

// Event 0 is counted on two slices, event 1 for the device.
class PrivateVmTest : public testing::Test {
 protected:
  PrivateVmTest() { Build({}); }

  void Build(PipelineConfig config) {
    config.slices = 2;
    config.events = 2;
    config.out_of_band_commit_period = 1000;
    config.ccus.clear();
    for (const uint8_t channel : {uint8_t{0}, uint8_t{1}, kDeviceChannel}) {
      if (channel == kDeviceChannel && !has_device_units_) continue;
      const uint16_t event = channel == kDeviceChannel ? 1 : 0;
      for (CcuSpec& ccu : Pack("unit", channel, {{.wire = 0, .meaning = {event, 0}}}, UlcSpec{})) {
        ccu.threshold = threshold_;
        config.ccus.push_back(ccu);
      }
    }
    chip_ = *Chip::Create(config);
    open_ = chip_->memory().Create(1, mailbox::kNoContext);
    secret_ = chip_->memory().Create(2, mailbox::kNoContext);
    chip_->guests().vm_control(secret_).is_private = true;
    for (const uint8_t channel : {uint8_t{0}, uint8_t{1}, kDeviceChannel}) chip_->Attach(channel, wires_);
  }

  uint64_t Count(BlockId block) const { return chip_->memory().counters(block)[0]; }
  uint64_t Live(BlockId block) const {
    const uint16_t event = 0;
    uint64_t sum = 0;
    chip_->live().Add(block, {&event, 1}, {&sum, 1});
    return sum;
  }
  uint16_t LiveFlags(BlockId block) {
    chip_->live().RequestBlock(block);
    while (chip_->live().hpc().NextStop() != kNoCycle) {
      chip_->AdvanceTo(chip_->live().hpc().NextStop());
      if (const auto live = chip_->live().TakeBlock()) return live->flags;
    }
    ADD_FAILURE() << "no answer";
    return 0;
  }
  uint16_t Flags(BlockId block) const { return chip_->memory().header(block).flags; }

  AllOnes wires_;
  uint32_t threshold_ = kCcuThresholdDefault;
  bool has_device_units_ = true;
  std::unique_ptr<Chip> chip_;
  BlockId open_ = 0, secret_ = 0;
};

TEST_F(PrivateVmTest, ItsCountsAreInItsOwnBlocksAlone) {
  chip_->SwitchTo(0, Binding{open_, {}});
  chip_->SwitchTo(1, Binding{secret_, {}});
  chip_->AdvanceTo(100'000);
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->SwitchTo(1, Binding{open_, {}});
  chip_->AdvanceTo(250'000);
  chip_->Latch();
  EXPECT_EQ(Count(open_), 250'000u);
  EXPECT_EQ(Count(secret_), 250'000u);
  EXPECT_EQ(Count(0), 250'000u) << "the open VM's alone";
  EXPECT_EQ(chip_->out_of_band()[0], 250'000u);
  EXPECT_EQ(chip_->memory().counters(0)[1], 250'000u) << "events of the device belong to nobody";
}

// In unit-level counters, collection units, the buffer or a channel.
TEST_F(PrivateVmTest, ItsCountsAreNotLiveCountsOfTheDeviceWhereverTheyAre) {
  for (const uint64_t cycle : {1u, 600u, 70'000u, 131'073u, 262'145u}) {
    Build({});
    chip_->SwitchTo(0, Binding{secret_, {}});
    chip_->SwitchTo(1, Binding{open_, {}});
    chip_->AdvanceTo(cycle);
    chip_->Trigger(TriggerKind::kRegisterWrite);
    for (uint64_t later = 0; later < 40; ++later) {
      chip_->AdvanceTo(cycle + later);
      EXPECT_EQ(Live(0), cycle + later);
      EXPECT_EQ(Live(secret_), cycle + later);
    }
  }
}

TEST_F(PrivateVmTest, ItsFaultsAreNotTheDevices) {
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->AdvanceTo(1000);
  chip_->mmu().SetRoot(0, std::nullopt);
  chip_->Latch();
  EXPECT_EQ(chip_->stats().mmu_faults, 1u);
  EXPECT_EQ(Flags(secret_), mailbox::kFlagMmuFault);
  EXPECT_EQ(Flags(0), 0) << "which is still the sum of its other VMs";
  EXPECT_EQ(Count(0), 0u);
  EXPECT_EQ(Count(open_), 0u);
}

TEST_F(PrivateVmTest, NeitherAreItsOverruns) {
  PipelineConfig config;
  config.record_cycles = 1000;
  has_device_units_ = false;  // whose own triggers would wait as well
  Build(config);
  chip_->SwitchTo(0, Binding{secret_, {}});
  for (uint64_t cycle = 100; cycle < 2000; cycle += 100) {
    chip_->AdvanceTo(cycle);
    chip_->Trigger(TriggerKind::kExternal);
  }
  EXPECT_NE(LiveFlags(secret_) & mailbox::kFlagTriggerOverrun, 0);
  EXPECT_EQ(LiveFlags(0), 0);
  chip_->AdvanceTo(2000);
  chip_->Latch();
  EXPECT_NE(Flags(secret_) & mailbox::kFlagTriggerOverrun, 0);
  EXPECT_EQ(Flags(0), 0);
  EXPECT_EQ(Count(secret_), 2000u);
  EXPECT_EQ(Count(0), 0u);
}

TEST_F(PrivateVmTest, ItsThresholdsMoveNothingOfTheDevice) {
  threshold_ = 2000;
  Build({});
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->AdvanceTo(50'000);
  EXPECT_GT(chip_->stats().threshold_triggers, 0u);
  chip_->Latch();
  EXPECT_EQ(Count(0), 0u);
  EXPECT_EQ(Count(secret_), 50'000u);
}

// What is private is settled when the VM takes its place.
TEST_F(PrivateVmTest, AControlBlockThatChangesMeanwhileChangesNothing) {
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->SwitchTo(1, Binding{open_, {}});
  chip_->AdvanceTo(1000);
  chip_->guests().vm_control(secret_).is_private = false;
  chip_->guests().vm_control(open_).is_private = true;
  chip_->AdvanceTo(3000);
  chip_->Latch();
  EXPECT_EQ(Count(0), 3000u);
  EXPECT_EQ(Count(secret_), 3000u);
}

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
