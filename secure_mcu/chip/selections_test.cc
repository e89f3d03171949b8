// SPDX-License-Identifier: Apache-2.0
//
// Selections on a chip of one slice (virtual-counters.md, "Mechanism", 6). The laws have drawn ones.
#include "secure_mcu/chip/selections.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip/chip.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

using mailbox::EventSet;

// Wire w is 1 in the cycles that are multiples of w + 1.
uint64_t Multiples(sim::CycleRange range, uint32_t wire) {
  return (range.end + wire) / (wire + 1) - (range.begin + wire) / (wire + 1);
}

class Beats final : public sim::WireSource {
 public:
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) sums[i] += Multiples(range, wires[i]);
  }
};

// Events 0 to 2 are single wires of gate group 0; 3 is one of group 1, and 4 a number of two digits of it. A unit has
// all of them and three counters. Event 5 is always counted; 6 and 7 are the running cycles of the groups.
constexpr uint32_t kSelectionEvents = 8;
constexpr uint16_t kNumber = 4, kAlways = 5, kRunning = 6;
const EventSet kFirstSelection = {0b00111}, kSecondSelection = {0b11000};

CounterInput GroupInput(sim::WireId wire, uint16_t event, std::optional<uint8_t> group, uint8_t shift = 0) {
  return {.wire = wire, .meaning = {event, shift}, .group = group};
}

UlcSpec SwitchedUnit(const std::string& name) {
  return {.name = name,
          .inputs = {GroupInput(1, 0, 0), GroupInput(2, 1, 0), GroupInput(3, 2, 0), GroupInput(4, 3, 1),
                     GroupInput(5, kNumber, 1), GroupInput(6, kNumber, 1, 1)},
          .counters = 3};
}

PipelineConfig SelectionsConfig() {
  PipelineConfig config{.slices = 1, .events = kSelectionEvents};
  config.trigger_period = 700;
  config.commit_period = 1100;
  config.gate_groups.resize(2);
  config.ccus = {{.name = "slice0.ccu0", .channel = 0, .ulcs = {SwitchedUnit("sm.0"), SwitchedUnit("sm.1")}},
                 {.name = "slice0.ccu1",
                  .channel = 0,
                  .ulcs = {{.name = "l2.0",
                            .inputs = {GroupInput(8, kAlways, std::nullopt), GroupInput(0, kRunning, 0),
                                       GroupInput(0, kRunning + 1, 1)}}}}};
  config.selections = {kFirstSelection, kSecondSelection};
  return config;
}

// Adds what a VM counts in a range of cycles.
void AddExpected(sim::CycleRange range, int selection, std::vector<uint64_t>& counts) {
  counts[kAlways] += Multiples(range, 8);
  if (selection == 0) {
    for (uint32_t event = 0; event < 3; ++event) counts[event] += 2 * Multiples(range, event + 1);
    counts[kRunning] += range.size();
  } else if (selection == 1) {
    counts[3] += 2 * Multiples(range, 4);
    counts[kNumber] += 2 * (Multiples(range, 5) + 2 * Multiples(range, 6));
    counts[kRunning + 1] += range.size();
  }
}

class SelectionsTest : public testing::Test {
 protected:
  SelectionsTest() : chip_(*Chip::Create(SelectionsConfig())) {
    vm1_ = chip_->memory().Create(1, mailbox::kNoContext);
    vm2_ = chip_->memory().Create(2, mailbox::kNoContext);
    chip_->guests().vm_control(vm2_).selection = 1;
    chip_->Attach(0, wires_);
    chip_->Attach(kDeviceChannel, wires_);
  }
  std::vector<uint64_t> Counts(BlockId block) const {
    const auto counters = chip_->memory().counters(block);
    return {counters.begin(), counters.end()};
  }
  std::vector<uint64_t> LiveCounts(BlockId block) const {
    std::vector<uint16_t> events(kSelectionEvents);
    std::iota(events.begin(), events.end(), uint16_t{0});
    std::vector<uint64_t> sums(kSelectionEvents);
    chip_->live().Add(block, events, sums);
    return sums;
  }
  uint16_t Flags(BlockId block) const { return chip_->memory().header(block).flags; }

  Beats wires_;
  std::unique_ptr<Chip> chip_;
  BlockId vm1_, vm2_;
};

TEST_F(SelectionsTest, EachVmCountsWhatItChose) {
  std::vector<uint64_t> expected1(kSelectionEvents), expected2(kSelectionEvents), both(kSelectionEvents);
  uint64_t cycle = 0;
  for (const uint64_t stay : {1000, 1, 77, 2500, 512, 4096}) {
    for (const BlockId vm : {vm1_, vm2_}) {
      chip_->SwitchTo(0, Binding{.vm = vm, .context = {}});
      chip_->AdvanceTo(cycle + stay);
      AddExpected({cycle, cycle + stay}, vm == vm1_ ? 0 : 1, vm == vm1_ ? expected1 : expected2);
      cycle += stay;
      EXPECT_EQ(LiveCounts(vm1_), expected1) << cycle;
      EXPECT_EQ(LiveCounts(vm2_), expected2) << cycle;
    }
  }
  chip_->Latch();
  EXPECT_EQ(Counts(vm1_), expected1);
  EXPECT_EQ(Counts(vm2_), expected2);
  for (size_t i = 0; i < kSelectionEvents; ++i) both[i] = expected1[i] + expected2[i];
  EXPECT_EQ(Counts(0), both);
  EXPECT_EQ(chip_->stats().mmu_faults, 0u);
}

TEST_F(SelectionsTest, AChangeOfTheControlBlockWaitsForTheNextSwitch) {
  std::vector<uint64_t> expected(kSelectionEvents);
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->guests().vm_control(vm1_).selection = 1;
  chip_->AdvanceTo(3000);
  AddExpected({0, 3000}, 0, expected);
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->AdvanceTo(5000);
  AddExpected({3000, 5000}, 1, expected);
  chip_->Latch();
  EXPECT_EQ(Counts(vm1_), expected);
}

TEST_F(SelectionsTest, OneBeyondTheOthersSelectsNothing) {
  std::vector<uint64_t> expected(kSelectionEvents);
  chip_->guests().vm_control(vm1_).selection = mailbox::kSelectionsMax - 1;
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->AdvanceTo(3000);
  AddExpected({0, 3000}, -1, expected);
  chip_->Latch();
  EXPECT_EQ(Counts(vm1_), expected);
}

TEST_F(SelectionsTest, NewOnesHoldForResidentsAtOnce) {
  std::vector<uint64_t> expected(kSelectionEvents);
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->AdvanceTo(1234);
  AddExpected({0, 1234}, 0, expected);
  chip_->Latch();
  const std::vector<EventSet> swapped = {kSecondSelection, kFirstSelection};
  ASSERT_TRUE(chip_->CheckSelections(swapped).ok());
  chip_->SetSelections(swapped);
  EXPECT_EQ(chip_->selections(), swapped);
  EXPECT_EQ(LiveCounts(vm1_), expected) << "nothing is counted by the change";
  chip_->AdvanceTo(5678);
  AddExpected({1234, 5678}, 1, expected);
  EXPECT_EQ(LiveCounts(vm1_), expected);
  chip_->Latch();
  EXPECT_EQ(Counts(vm1_), expected);
  EXPECT_EQ(chip_->stats().mmu_faults, 0u);
}

TEST_F(SelectionsTest, ARecordWithAnotherSelectionFaultsIsFlaggedAndGoesNowhere) {
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->AdvanceTo(1000);
  chip_->Latch();
  const std::vector<uint64_t> before = Counts(vm1_), device = Counts(0);
  chip_->mmu().BindSelection(0, 1);
  chip_->AdvanceTo(1500);
  EXPECT_EQ(LiveCounts(vm1_), before) << "what will fault is not shown before";
  chip_->Latch();
  EXPECT_GT(chip_->stats().mmu_faults, 0u);
  EXPECT_EQ(Counts(vm1_), before);
  EXPECT_EQ(Counts(vm2_), std::vector<uint64_t>(kSelectionEvents));
  EXPECT_EQ(Counts(0), device) << "nor is it the device's";
  EXPECT_EQ(Flags(vm1_), mailbox::kFlagMmuFault);
  EXPECT_EQ(Flags(0), mailbox::kFlagMmuFault);
  EXPECT_EQ(Flags(vm2_), 0);
}

TEST_F(SelectionsTest, ASwitchBindsTheRightOneAgain) {
  chip_->SwitchTo(0, Binding{.vm = vm1_, .context = {}});
  chip_->mmu().BindSelection(0, 1);
  chip_->SwitchTo(0, Binding{.vm = vm2_, .context = {}});
  chip_->AdvanceTo(1000);
  chip_->Latch();
  std::vector<uint64_t> expected(kSelectionEvents);
  AddExpected({0, 1000}, 1, expected);
  EXPECT_EQ(Counts(vm2_), expected);
}

TEST_F(SelectionsTest, MistakesAreNamed) {
  const struct {
    std::vector<EventSet> sets;
    const char* message;
  } kCases[] = {
      {{kFirstSelection, {0b100111}}, "selection 1: event 5 is not selectable"},
      {{{uint64_t{1} << 8}}, "selection 0: event 8 is not of this chip"},
      {{{0b00011}},
       "selection 0: event 0 is selected and event 2 is not: a selection has all selectable events of a group or none"},
      {{{0b11111}}, "selection 0: the events of unit sm.0 need 6 counters, it has 3"},
      {{{}}, "selection 0: 0 words, must be 1"},
      {std::vector<EventSet>(17, kFirstSelection), "number of selections is 17, must be from 0 to 16"},
  };
  for (const auto& test : kCases) {
    const absl::Status status = chip_->CheckSelections(test.sets);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), test.message);
  }
  EXPECT_TRUE(chip_->CheckSelections(std::vector<EventSet>{kSecondSelection, {0}}).ok()) << "nothing is a choice, too";
}

TEST_F(SelectionsTest, AConfigurationOfSelectionsIsValidated) {
  PipelineConfig config = SelectionsConfig();
  config.selections = {{0b1}};
  EXPECT_FALSE(Chip::Create(config).ok());
  config.selections.clear();
  EXPECT_EQ(Chip::Create(config).status().message(), "slice0.ccu0: sm.0: number of counters is 6, must be from 1 to 3");
  config = SelectionsConfig();
  config.ccus[0].channel = kDeviceChannel;
  EXPECT_FALSE(Chip::Create(config).ok()) << "the device's units have no resident";
  config = SelectionsConfig();
  config.ccus[0].ulcs[0].counters = 46;
  EXPECT_EQ(Chip::Create(config).status().message(), "slice0.ccu0: sm.0: counters is 46, must be from 1 to 45");
}

TEST(SelectableEventsTest, BanksAreAsLargeAsAnySelectionNeeds) {
  const PipelineConfig config = SelectionsConfig();
  EXPECT_EQ(CcuCounters(config.ccus[0]), 3u) << "two units alike share the counters";
  EXPECT_EQ(CcuCounters(config.ccus[1]), 3u);
  CcuSpec ccu = config.ccus[0];
  ccu.ulcs[1].inputs.pop_back();
  EXPECT_EQ(CcuCounters(ccu), 6u) << "two kinds of units";
  ccu.ulcs.push_back({.inputs = {GroupInput(0, 0, std::nullopt)}});
  EXPECT_EQ(CcuCounters(ccu), 6u) << "there are no more meanings";
  EXPECT_EQ(SwitchedKinds(ccu).size(), 2u);
}

}  // namespace
}  // namespace sideband::mcu
