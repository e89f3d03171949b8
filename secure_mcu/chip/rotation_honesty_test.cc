// SPDX-License-Identifier: Apache-2.0
//
// What a chip shows of events that take turns where something is wrong: relations that the wires break, and counters
// that saturate (docs/design/counter-rotation.md, "Limits").
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

// Event 0 is always counted, and the others take turns on the other counter: three sets.
constexpr uint16_t kFixed = 0, kFirstTurning = 1, kSecondTurning = 2, kThirdTurning = 3, kWires = 4;

PipelineConfig ThreeSetConfig(uint64_t slot) {
  PipelineConfig config{.slices = 1, .events = kWires};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  UlcSpec ulc{.name = "ulc", .inputs = {}, .period = 511, .lanes = 512, .counters = 2};
  for (uint16_t event = 0; event < kWires; ++event) ulc.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {ulc}}};
  config.ccus[0].threshold = 0;
  config.rotation.emplace();
  config.rotation->fixed = {1 << kFixed};
  config.rotation->seed = 1;
  config.rotation->settings.stable_slot = config.rotation->settings.fluctuating_slot = slot;
  config.rotation->settings.adapt = false;
  return config;
}

// Wire w is 1 in the cycles that are multiples of periods[w] (0: never), which changes at `change`.
class PeriodicWires final : public sim::WireSource {
 public:
  using Periods = std::array<uint64_t, kWires>;
  explicit PeriodicWires(const Periods& periods) : PeriodicWires(periods, periods, 0) {}
  PeriodicWires(const Periods& before, const Periods& after, uint64_t change)
      : before_(before), after_(after), change_(change) {}

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) sums[i] += CountTo(range.end, wires[i]) - CountTo(range.begin, wires[i]);
  }
  // In the cycles before `end`.
  uint64_t CountTo(uint64_t end, sim::WireId wire) const {
    const uint64_t first = std::min(end, change_);
    return Multiples(first, before_[wire]) + Multiples(end, after_[wire]) - Multiples(first, after_[wire]);
  }

 private:
  static uint64_t Multiples(uint64_t end, uint64_t period) { return period == 0 ? 0 : (end + period - 1) / period; }

  const Periods before_, after_;
  const uint64_t change_;
};

class RotationHonestyTest : public ::testing::Test {
 protected:
  void Start(const PipelineConfig& config, const PeriodicWires& wires) {
    auto chip = Chip::Create(config);
    ASSERT_TRUE(chip.ok()) << chip.status();
    chip_ = *std::move(chip);
    wires_ = &wires;
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    context_ = chip_->memory().Create(1, 0);
    chip_->Attach(0, wires);
    chip_->SwitchTo(0, Binding{.vm = vm_, .context = context_});
  }
  void LatchAt(uint64_t cycle) {
    chip_->AdvanceTo(cycle);
    chip_->Latch();
  }
  bool IsFlagged(BlockId block, uint16_t flag) const { return (chip_->memory().header(block).flags & flag) != 0; }
  // Of an event that takes turns.
  uint64_t Upper(BlockId block, uint16_t event) const {
    return chip_->rotation().NumbersOf(block).events[event - 1].upper;
  }
  uint64_t Counted(BlockId block, uint16_t event) const { return chip_->memory().counters(block)[event]; }
  std::vector<BlockId> Blocks() const { return {0, vm_, context_}; }

  std::unique_ptr<Chip> chip_;
  const PeriodicWires* wires_ = nullptr;
  BlockId vm_ = 0, context_ = 0;
};

// --- Relations ------------------------------------------------------------------------------------------------------

constexpr uint64_t kTenPeriods = 5110, kChange = 30 * kTenPeriods;
// The first is at most the fixed one, until it is 1 in every cycle.
const PeriodicWires kBreaking({4, 4, 3, 5}, {4, 1, 3, 5}, kChange);

PipelineConfig RelatedConfig() {
  PipelineConfig config = ThreeSetConfig(kTenPeriods);
  config.relations = {{.kind = mailbox::Relation::Kind::kAtMost, .members = {kFixed}, .whole = kFirstTurning}};
  return config;
}

TEST_F(RotationHonestyTest, ARelationThatHoldsNarrowsBounds) {
  Start(RelatedConfig(), kBreaking);
  LatchAt(kChange);
  for (const BlockId block : Blocks()) {
    EXPECT_FALSE(IsFlagged(block, mailbox::kFlagRotationInconsistent));
    EXPECT_LE(Upper(block, kFirstTurning), kChange / 4 + 1) << "the fixed event's count";
    EXPECT_GE(Upper(block, kFirstTurning), kBreaking.CountTo(kChange, kFirstTurning));
    EXPECT_GT(Upper(block, kSecondTurning), kChange / 2) << "nothing is known of it";
  }
  EXPECT_EQ(chip_->stats().rotation_inconsistencies, 0u);
}

TEST_F(RotationHonestyTest, ABrokenRelationIsFlaggedAndNotUsedAnyMore) {
  Start(RelatedConfig(), kBreaking);
  // A round of the sets later, its event has had a turn.
  const uint64_t found = kChange + 6 * kTenPeriods + kTenPeriods / 3;
  LatchAt(found);
  std::vector<uint64_t> before;
  for (const BlockId block : Blocks()) {
    EXPECT_TRUE(IsFlagged(block, mailbox::kFlagRotationInconsistent));
    before.insert(before.end(), {Upper(block, kFirstTurning), Counted(block, kFirstTurning)});
  }
  EXPECT_EQ(chip_->stats().rotation_inconsistencies, 1u);
  for (uint64_t cycle = found + 1000; cycle < found + 40 * kTenPeriods; cycle += 7 * kTenPeriods / 5) {
    LatchAt(cycle);
    const uint64_t truth = kBreaking.CountTo(cycle, kFirstTurning) - kBreaking.CountTo(found, kFirstTurning);
    for (size_t i = 0; i < Blocks().size(); ++i) {
      const BlockId block = Blocks()[i];
      EXPECT_GE(Upper(block, kFirstTurning) - before[2 * i], truth) << cycle;
      EXPECT_LE(Counted(block, kFirstTurning) - before[2 * i + 1], truth) << cycle;
    }
  }
  EXPECT_EQ(chip_->stats().rotation_inconsistencies, 1u) << "once";
}

TEST_F(RotationHonestyTest, AConfidentialVmsRelationsAreInItsOwnFlagsAlone) {
  Start(RelatedConfig(), kBreaking);
  chip_->SwitchTo(0, std::nullopt);
  chip_->rotation().SetConfidential(vm_, true);
  chip_->SwitchTo(0, Binding{.vm = vm_, .context = context_});
  LatchAt(kChange + 7 * kTenPeriods);
  EXPECT_TRUE(IsFlagged(vm_, mailbox::kFlagRotationInconsistent));
  EXPECT_EQ(chip_->stats().rotation_inconsistencies, 0u);
}

// The third is what the first two leave of the cycles, until these are more.
TEST_F(RotationHonestyTest, ADerivedEventWhoseRelationBrokeIsBoundedByItsGain) {
  PipelineConfig config = ThreeSetConfig(kTenPeriods);
  config.relations = {{.members = {kFixed, kFirstTurning, kThirdTurning}}};
  const PeriodicWires wires({0, 1, 3, 0}, {1, 1, 3, 2}, kChange);
  Start(config, wires);
  ASSERT_EQ(chip_->rotation().turns().plans()[0].counters.derived.size(), 1u);
  const uint16_t derived = chip_->rotation().turns().plans()[0].counters.derived[0].event;
  ASSERT_EQ(derived, kThirdTurning);
  LatchAt(kChange);
  EXPECT_FALSE(IsFlagged(context_, mailbox::kFlagRotationInconsistent));
  const uint64_t found = kChange + 6 * kTenPeriods;
  LatchAt(found);
  EXPECT_TRUE(IsFlagged(context_, mailbox::kFlagRotationInconsistent));
  const uint64_t upper = Upper(context_, kThirdTurning), counted = Counted(context_, kThirdTurning);
  LatchAt(found + 20 * kTenPeriods);
  EXPECT_EQ(Counted(context_, kThirdTurning), counted) << "nothing is derived any more";
  EXPECT_GE(Upper(context_, kThirdTurning) - upper,
            wires.CountTo(found + 20 * kTenPeriods, kThirdTurning) - wires.CountTo(found, kThirdTurning));
}

// --- Saturation -----------------------------------------------------------------------------------------------------

constexpr uint64_t kLongSlot = uint64_t{1} << 29;
constexpr uint64_t kRound = 3 * kLongSlot;

TEST_F(RotationHonestyTest, AFixedEventsSaturationLeavesTheOthersTheirBounds) {
  const PeriodicWires wires({1, 4, 5, 6});
  Start(ThreeSetConfig(kLongSlot), wires);
  LatchAt(kRound + kLongSlot / 2);
  for (const BlockId block : Blocks()) {
    EXPECT_TRUE(IsFlagged(block, mailbox::kFlagOverflow));
    EXPECT_LT(Counted(block, kFixed), wires.CountTo(kRound + kLongSlot / 2, kFixed));
    for (const uint16_t event : {kFirstTurning, kSecondTurning, kThirdTurning}) {
      EXPECT_NE(Upper(block, event), mailbox::kUnknownNumber) << event;
      EXPECT_GE(Upper(block, event), wires.CountTo(kRound + kLongSlot / 2, event)) << event;
      EXPECT_NE(chip_->rotation().NumbersOf(block).events[event - 1].deviation, mailbox::kUnknownNumber);
    }
  }
}

TEST_F(RotationHonestyTest, AnEventThatSaturatedHasNoUpperBound) {
  const PeriodicWires wires({4, 4, 1, 6});
  Start(ThreeSetConfig(kLongSlot), wires);
  LatchAt(kRound);
  chip_->SwitchTo(0, std::nullopt);
  for (const BlockId block : Blocks()) {
    EXPECT_EQ(Upper(block, kSecondTurning), mailbox::kUnknownNumber);
    for (const uint16_t event : {kFirstTurning, kThirdTurning}) {
      EXPECT_NE(Upper(block, event), mailbox::kUnknownNumber) << event;
      EXPECT_GE(Upper(block, event), wires.CountTo(kRound, event)) << event;
    }
  }
  // Nor later.
  chip_->SwitchTo(0, Binding{.vm = vm_, .context = context_});
  LatchAt(kRound + 1000);
  EXPECT_EQ(Upper(context_, kSecondTurning), mailbox::kUnknownNumber);
}

TEST_F(RotationHonestyTest, WhatIsDerivedFromASaturatedCountHasNoUpperBound) {
  PipelineConfig config = ThreeSetConfig(kLongSlot);
  config.relations = {{.kind = mailbox::Relation::Kind::kSum, .members = {kFixed}, .whole = kThirdTurning}};
  const PeriodicWires wires({1, 4, 5, 1});
  Start(config, wires);
  ASSERT_EQ(chip_->rotation().turns().plans()[0].counters.derived.size(), 1u);
  LatchAt(kRound);
  for (const BlockId block : Blocks()) {
    EXPECT_LT(Counted(block, kThirdTurning), wires.CountTo(kRound, kThirdTurning));
    EXPECT_EQ(Upper(block, kThirdTurning), mailbox::kUnknownNumber);
    EXPECT_NE(Upper(block, kFirstTurning), mailbox::kUnknownNumber);
  }
}

// Twice the first is at most the fixed one, whose count is too small to show it.
TEST_F(RotationHonestyTest, ASaturatedCountBreaksNoRelationAndBoundsNoEvent) {
  PipelineConfig config = ThreeSetConfig(kLongSlot);
  config.ccus[0].ulcs[0].inputs[kFirstTurning].meaning.shift = 1;
  config.relations = {{.kind = mailbox::Relation::Kind::kAtMost, .members = {kFixed}, .whole = kFirstTurning}};
  const PeriodicWires wires({1, 3, 4, 6});
  Start(config, wires);
  LatchAt(kRound);
  for (const BlockId block : Blocks()) {
    EXPECT_TRUE(IsFlagged(block, mailbox::kFlagOverflow));
    EXPECT_FALSE(IsFlagged(block, mailbox::kFlagRotationInconsistent));
    EXPECT_GE(Upper(block, kFirstTurning), 2 * wires.CountTo(kRound, kFirstTurning));
    EXPECT_NE(Upper(block, kFirstTurning), mailbox::kUnknownNumber);
  }
}

}  // namespace
}  // namespace sideband::mcu
