// SPDX-License-Identifier: Apache-2.0
//
// Multiplexed events on a chip: relations that the wires break and counters that saturate
// (docs/design/counter-rotation.md, "Limits"); generations of a context, a first run and then passes with what it has
// taught; slices and the device that turn at the same time, each in cycles of its own and by relations of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

// Event 0 is always counted, and the others are multiplexed on the other counter: three sets.
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
  // The bound of a multiplexed event.
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

constexpr uint16_t kInstructions = 6;
constexpr uint64_t kFluctuatingSlot = 100, kStableSlot = 200, kInterval = 20, kRun = 1600;
constexpr uint64_t kEvenCycles = 800;  // of a run, at its begin

// 6 events and instructions on 3 counters: three sets of two.
PipelineConfig RunsConfig() {
  PipelineConfig config{.slices = 1, .events = kInstructions + 1};
  UlcSpec ulc{.name = "ulc", .inputs = {}, .period = 2, .lanes = 512, .counters = 3};
  for (uint16_t event = 0; event <= kInstructions; ++event)
    ulc.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {ulc}}};
  config.rotation.emplace();
  config.rotation->fixed = mailbox::EmptySet(config.events);
  mailbox::Insert(kInstructions, config.rotation->fixed);
  config.rotation->instructions = kInstructions;
  config.rotation->seed = 1;
  mailbox::RotationSettings& settings = config.rotation->settings;
  settings.profile = mailbox::RotationProfile::kTwoSet;
  settings.stable_slot = kStableSlot, settings.fluctuating_slot = kFluctuatingSlot, settings.interval = kInterval;
  settings.sets_per_pass = 2;
  return config;
}

// Instructions are even in the first part of each run, and uneven in the rest.
sim::PackedWires WiresOf(uint64_t cycles) {
  sim::PackedWires wires(kInstructions + 1, cycles);
  wires.ExtendTo(cycles);
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const uint64_t own = cycle % kRun;
    const bool is_even = own < kEvenCycles;
    if (is_even ? cycle % 2 == 0 : own / kInterval % 3 == 0) wires.Set(kInstructions, cycle);
    wires.Set(static_cast<sim::WireId>(cycle % kInstructions), cycle);
  }
  return wires;
}

class RotationRunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto chip = Chip::Create(RunsConfig());
    ASSERT_TRUE(chip.ok()) << chip.status();
    chip_ = *std::move(chip);
    ASSERT_EQ(chip_->rotation().turns().plans()[0].counters.sets.size(), 3);
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    context_ = chip_->memory().Create(1, 0);
    chip_->Attach(0, wires_);
  }

  // A generation of kRun own cycles; returns the cycles at which the set in turn changes, with the set.
  std::vector<std::pair<uint64_t, size_t>> Run() {
    const uint64_t begin = chip_->now();
    if (begin > 0) chip_->memory().Renew(context_);
    chip_->SwitchTo(0, Binding{.vm = vm_, .context = context_});
    std::vector<std::pair<uint64_t, size_t>> turns;
    std::vector<uint64_t> before(3);
    for (uint64_t own = 20; own <= kRun; own += 20) {
      chip_->AdvanceTo(begin + own);
      chip_->Latch();
      const std::vector<uint64_t> running = chip_->rotation().NumbersOf(context_).parts[0].running;
      for (size_t set = 0; set < running.size(); ++set) {
        if (running[set] == before[set]) continue;
        if (turns.empty() || turns.back().second != set) turns.emplace_back(own - 20, set);
      }
      before = running;
    }
    chip_->SwitchTo(0, std::nullopt);
    chip_->memory().Retire(context_);
    return turns;
  }

  sim::PackedWires wires_ = WiresOf(8 * kRun);
  std::unique_ptr<Chip> chip_;
  BlockId vm_ = 0, context_ = 0;
};

using Turns = std::vector<std::pair<uint64_t, size_t>>;

TEST_F(RotationRunsTest, FirstRunThenPassesByItsPeriods) {
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(chip_->rotation().NumbersOf(context_).parts[0].running, (std::vector<uint64_t>{kRun, 0, 0}));
  // Windows are five looks, and share one with their neighbours: the last even one ends before that of 800 cycles.
  const Turns pass = Run();
  EXPECT_EQ(pass, (Turns{{0, 1},
                         {200, 2},
                         {400, 1},
                         {600, 2},
                         {800, 1},
                         {900, 2},
                         {1000, 1},
                         {1100, 2},
                         {1200, 1},
                         {1300, 2},
                         {1400, 1},
                         {1500, 2}}));
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(Run(), pass);
}

TEST_F(RotationRunsTest, TakesThePassThatIsAsked) {
  EXPECT_EQ(chip_->rotation().turns().ChoosePass(context_, 2).message(), "pass 2: the plan has 2");
  ASSERT_TRUE(chip_->rotation().turns().ChoosePass(context_, 1).ok());
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  // Nothing is learnt: all slots are short.
  EXPECT_EQ(Run().size(), kRun / kFluctuatingSlot);
  chip_->rotation().turns().Learn(context_);
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
}

TEST_F(RotationRunsTest, LearnsNothingOfAConfidentialVm) {
  chip_->rotation().SetConfidential(vm_, true);
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(Run().size(), kRun / kFluctuatingSlot);
}

using mailbox::Relation;

constexpr uint64_t kRecordedCycles = 2000;
// Events of slices: kSliceBusy is fixed, kSliceIdle is 1 where it is not, and kSliceTotal is kSliceBusy and
// kSlicePart together.
constexpr uint16_t kSliceIdle = 0, kSliceBusy = 1, kSliceTotal = 2, kSlicePart = 3, kSliceMore = 4, kSliceEvents = 7;
// The device's events 7 to 9 have one counter: one of the first two is 1 in each cycle.
constexpr uint16_t kDeviceIdle = 7, kDeviceBusy = 8;
// The device's others have a counter each: one of the first two is 1 in each cycle.
constexpr uint16_t kReads = 10, kWrites = 11, kAllEvents = 12;

UlcSpec UnitOf(const std::string& name, uint32_t counters, uint16_t first, uint16_t end) {
  UlcSpec unit{.name = name, .inputs = {}, .period = 2, .lanes = 512, .counters = counters};
  for (uint16_t event = first; event < end; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  return unit;
}

PipelineConfig ScopesConfig() {
  PipelineConfig config{.slices = 2, .events = kAllEvents};
  config.trigger_period = 97;
  config.commit_period = 150, config.hypervisor_commit_period = 170;
  for (uint8_t slice = 0; slice < 2; ++slice) {
    UlcSpec core = UnitOf("core", 3, kSliceIdle, kSliceEvents);
    core.inputs[kSliceTotal].wire = kSliceBusy;
    core.inputs.push_back({.wire = kSlicePart, .meaning = {kSliceTotal, 0}});
    config.ccus.push_back({.name = "slice", .channel = slice, .ulcs = {core}});
  }
  config.ccus.push_back(
      {.name = "device",
       .channel = kDeviceChannel,
       .ulcs = {UnitOf("dram", 1, kDeviceIdle, kReads), UnitOf("link", kUlcCountersMax, kReads, kAllEvents)}});
  config.relations = {{.kind = Relation::Kind::kCycles, .members = {kSliceIdle, kSliceBusy}},
                      {.kind = Relation::Kind::kSum, .members = {kSliceBusy, kSlicePart}, .whole = kSliceTotal},
                      {.kind = Relation::Kind::kCycles, .members = {kDeviceIdle, kDeviceBusy}},
                      {.kind = Relation::Kind::kCycles, .members = {kReads, kWrites}}};
  config.rotation.emplace();
  config.rotation->seed = 1;
  config.rotation->fixed = mailbox::EmptySet(kAllEvents);
  mailbox::Insert(kSliceBusy, config.rotation->fixed);
  config.rotation->settings.stable_slot = config.rotation->settings.fluctuating_slot = 64;
  config.rotation->settings.adapt = false;
  return config;
}

sim::PackedWires Wires() {
  sim::PackedWires wires(kAllEvents, kRecordedCycles);
  wires.ExtendTo(kRecordedCycles);
  for (uint64_t cycle = 0; cycle < kRecordedCycles; ++cycle) {
    wires.Set(cycle % 3 == 0 ? kSliceBusy : kSliceIdle, cycle);
    wires.Set(cycle % 5 == 0 ? kDeviceBusy : kDeviceIdle, cycle);
    wires.Set(cycle % 7 == 0 ? kReads : kWrites, cycle);
    if (cycle % 2 == 0) wires.Set(kSlicePart, cycle);
    if (cycle % 11 == 0) wires.Set(kSliceMore, cycle);
  }
  return wires;
}

class RotationScopesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto chip = Chip::Create(ScopesConfig());
    ASSERT_TRUE(chip.ok()) << chip.status();
    chip_ = *std::move(chip);
    const CounterPlan& plan = chip_->rotation().turns().plans()[0].counters;
    ASSERT_TRUE(plan.IsDerived(kSliceIdle) && plan.IsDerived(kSliceTotal));
    ASSERT_NE(plan.IsDerived(kDeviceIdle), plan.IsDerived(kDeviceBusy));
    for (uint8_t slice = 0; slice < 2; ++slice) {
      vms_.push_back(chip_->memory().Create(slice + 1, mailbox::kNoContext));
      chip_->Attach(slice, wires_);
    }
    chip_->Attach(kDeviceChannel, wires_);
    for (uint8_t slice = 0; slice < 2; ++slice) {
      chip_->SwitchTo(slice, Binding{.vm = vms_[slice], .context = std::nullopt});
    }
    for (const uint64_t cycle : {uint64_t{333}, uint64_t{1000}, kRecordedCycles}) {
      chip_->AdvanceTo(cycle);
      chip_->Latch();
    }
  }

  uint64_t Count(BlockId block, uint16_t event) const { return chip_->memory().counters(block)[event]; }
  uint64_t Upper(BlockId block, uint16_t event) const {
    const auto& events = chip_->rotation().turns().events();
    const auto place = std::ranges::lower_bound(events, event) - events.begin();
    return chip_->rotation().NumbersOf(block).events[place].upper;
  }
  // In all cycles, of one slice or of the device.
  static uint64_t Truth(uint16_t event) {
    uint64_t truth = 0;
    const sim::PackedWires wires = Wires();
    for (uint64_t cycle = 0; cycle < kRecordedCycles; ++cycle) {
      if (event == kSliceTotal) {
        truth += (wires.Bit(kSliceBusy, cycle) ? 1 : 0) + (wires.Bit(kSlicePart, cycle) ? 1 : 0);
      } else {
        truth += wires.Bit(event, cycle) ? 1 : 0;
      }
    }
    return truth;
  }

  const sim::PackedWires wires_ = Wires();
  std::unique_ptr<Chip> chip_;
  std::vector<BlockId> vms_;
};

TEST_F(RotationScopesTest, TheDeviceHasWhatItsVmsHave) {
  for (uint16_t event = 0; event < kSliceEvents; ++event) {
    EXPECT_EQ(Count(0, event), Count(vms_[0], event) + Count(vms_[1], event)) << event;
    EXPECT_LE(Count(vms_[0], event), Truth(event)) << event;
    if (event == kSliceBusy) continue;
    EXPECT_GE(Upper(vms_[0], event), Truth(event)) << event;
    EXPECT_GE(Upper(0, event), 2 * Truth(event)) << event;
  }
  EXPECT_EQ(Count(vms_[0], kSliceIdle), Truth(kSliceIdle)) << "of a fixed event";
}

TEST_F(RotationScopesTest, WhatTheDeviceCountsIsOfNoVm) {
  for (uint16_t event = kSliceEvents; event < kAllEvents; ++event) {
    EXPECT_EQ(Count(vms_[0], event), 0) << event;
    EXPECT_LE(Count(0, event), Truth(event)) << event;
  }
  EXPECT_GT(Count(0, kDeviceIdle) + Count(0, kDeviceBusy), 0);
  EXPECT_EQ(Count(0, kReads), Truth(kReads));
}

TEST_F(RotationScopesTest, NoRelationIsHeldAgainstOthersCounts) {
  for (const BlockId block : {BlockId{0}, vms_[0], vms_[1]}) {
    EXPECT_EQ(chip_->memory().header(block).flags & mailbox::kFlagRotationInconsistent, 0) << block;
  }
}

}  // namespace

}  // namespace sideband::mcu
