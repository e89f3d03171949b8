// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip.h"

#include <gtest/gtest.h>

#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

PipelineConfig OneWire() {
  PipelineConfig config{.slices = 1, .events = 1};
  config.ccus = Pack("slice0", 0, {{.wire = 0, .meaning = {0, 0}}}, UlcSpec{});
  return config;
}

struct Rig {
  explicit Rig(const PipelineConfig& config) : chip(*Chip::Create(config)) {
    vm = chip->memory().Create(1, mailbox::kNoContext);
    first = chip->memory().Create(1, 0);
    second = chip->memory().Create(1, 1);
    for (uint8_t slice = 0; slice < config.slices; ++slice) chip->Attach(slice, wires);
    chip->Attach(kDeviceChannel, wires);
  }
  uint64_t Count(BlockId block) const { return chip->memory().counters(block)[0]; }

  AllOnes wires;
  std::unique_ptr<Chip> chip;
  BlockId vm, first, second;
};

TEST(ChipTest, EveryCycleOfAResidencyIsCountedOnce) {
  Rig rig(OneWire());
  rig.chip->AdvanceTo(100);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1000);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  rig.chip->AdvanceTo(1001);
  rig.chip->SwitchTo(0, std::nullopt);
  rig.chip->AdvanceTo(5000);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 900u);
  EXPECT_EQ(rig.Count(rig.second), 1u) << "a residency of one cycle";
  EXPECT_EQ(rig.Count(rig.vm), 901u);
  EXPECT_EQ(rig.Count(0), 901u) << "the hypervisor's";
}

TEST(ChipTest, AVmMayBeResidentWithoutAContext) {
  Rig rig(OneWire());
  rig.chip->SwitchTo(0, Binding{rig.vm, std::nullopt});
  rig.chip->AdvanceTo(10);
  rig.chip->SwitchTo(0, std::nullopt);
  EXPECT_EQ(rig.Count(rig.vm), 10u);
  EXPECT_EQ(rig.Count(rig.first), 0u);
}

TEST(ChipTest, LatchHoldsExactlyTheCyclesBelowNowAndDisturbsNothing) {
  Rig rig(OneWire());
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  for (const uint64_t cycle : {1u, 2u, 511u, 512u, 700u, 65'536u, 65'537u, 300'000u}) {
    rig.chip->AdvanceTo(cycle);
    rig.chip->Latch();
    EXPECT_EQ(rig.Count(rig.first), cycle);
    EXPECT_EQ(rig.Count(0), cycle);
  }
}

TEST(ChipTest, TellsHowOldTheCommitsAre) {
  PipelineConfig config = OneWire();
  config.commit_period = 4000;
  config.hypervisor_commit_period = 1000;
  Rig rig(config);
  rig.chip->AdvanceTo(9500);
  EXPECT_EQ(rig.chip->CommittedNs(0), 8000u) << "of a slice on which nobody is";
  EXPECT_EQ(rig.chip->CommittedNs(kDeviceChannel), 9000u);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  EXPECT_EQ(rig.chip->CommittedNs(0), 9500u) << "a context switch commits";
  rig.chip->AdvanceTo(9600);
  rig.chip->Latch();
  EXPECT_EQ(rig.chip->CommittedNs(0), 9600u);
  EXPECT_EQ(rig.chip->CommittedNs(kDeviceChannel), 9600u);
}

TEST(ChipTest, DeviceScopeCountsAlwaysAndForTheHypervisorOnly) {
  PipelineConfig config = OneWire();
  config.ccus = Pack("device", kDeviceChannel, {{.wire = 0, .meaning = {0, 0}}}, UlcSpec{});
  Rig rig(config);
  rig.chip->AdvanceTo(50);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(100);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(0), 100u);
  EXPECT_EQ(rig.Count(rig.vm), 0u);
  EXPECT_EQ(rig.Count(rig.first), 0u);
}

TEST(ChipTest, ReachedThresholdTriggersByItself) {
  PipelineConfig config = OneWire();
  config.trigger_period = config.commit_period = 0;
  config.ccus[0].threshold = 2000;
  Rig rig(config);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(10'000);
  EXPECT_GE(rig.chip->stats().threshold_triggers, 4u);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 10'000u);
  EXPECT_EQ(rig.chip->memory().header(rig.first).flags, 0);
}

TEST(ChipTest, SaturationIsFlaggedOnEveryBlockThatItTouches) {
  PipelineConfig config = OneWire();
  config.trigger_period = config.commit_period = 0;
  config.ccus[0].threshold = 0;  // no trigger empties the 28-bit counters in time
  Rig rig(config);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(uint64_t{1} << 29);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), kCcuCounterMax);
  for (const BlockId block : {BlockId{0}, rig.vm, rig.first}) {
    EXPECT_EQ(rig.chip->memory().header(block).flags, mailbox::kFlagOverflow) << block;
  }
  EXPECT_EQ(rig.chip->memory().header(rig.second).flags, 0);
}

TEST(ChipTest, AnOverrunIsFlaggedAndNothingIsLost) {
  PipelineConfig config = OneWire();
  config.trigger_period = 3;
  config.record_cycles = 100;  // records are sent more slowly than triggers occur
  Rig rig(config);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(10'000);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 10'000u);
  EXPECT_GT(rig.chip->stats().trigger_overruns, 0u);
  EXPECT_EQ(rig.chip->memory().header(rig.first).flags, mailbox::kFlagTriggerOverrun);
}

// A way to break a binding between two latches: the counts of that time are lost, and no other VM gets them.
class WrongBindingTest : public testing::TestWithParam<void (*)(Chip& chip)> {};

// The other VM has the same pages.
TEST_P(WrongBindingTest, ACommitFaultsIsFlaggedAndGoesNowhere) {
  Rig rig(OneWire());
  const BlockId other_vm = rig.chip->memory().Create(2, mailbox::kNoContext);
  const BlockId other = rig.chip->memory().Create(2, 0);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1000);
  rig.chip->Latch();
  GetParam()(*rig.chip);
  rig.chip->AdvanceTo(1500);
  rig.chip->Latch();
  EXPECT_EQ(rig.chip->stats().mmu_faults, 1u);
  EXPECT_EQ(rig.Count(rig.first), 1000u);
  EXPECT_EQ(rig.Count(rig.vm), 1000u) << "both blocks, or none";
  EXPECT_EQ(rig.Count(0), 1500u) << "the hypervisor's channel did not fault";
  for (const BlockId block : {BlockId{0}, rig.vm, rig.first}) {
    EXPECT_EQ(rig.chip->memory().header(block).flags, mailbox::kFlagMmuFault) << block;
  }
  for (const BlockId block : {rig.second, other_vm, other}) {
    EXPECT_EQ(rig.Count(block), 0u) << block;
    EXPECT_EQ(rig.chip->memory().header(block).flags, 0) << block;
    EXPECT_EQ(rig.chip->memory().header(block).sequence, 0u) << block;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, WrongBindingTest,
    testing::Values([](Chip& chip) { chip.mmu().SetRoot(0, chip.memory().page_tables().RootOf(2)); },
                    [](Chip& chip) { chip.mmu().SetRoot(0, chip.memory().page_tables().RootOf(0)); },
                    [](Chip& chip) { chip.mmu().SetRoot(0, std::nullopt); },
                    [](Chip& chip) { chip.memory().page_tables().Invalidate(1, PageOf(0)); },
                    [](Chip& chip) { chip.memory().page_tables().Invalidate(1, PageOf(mailbox::kNoContext)); },
                    [](Chip& chip) {
                      PageTables& tables = chip.memory().page_tables();
                      tables.Map(1, PageOf(0), *tables.Walk(*tables.RootOf(2), PageOf(0)));
                    }));

TEST(ChipTest, WhatWasOnItsWayIsLostWithAWrongRootUntilTheNextSwitch) {
  Rig rig(OneWire());
  rig.chip->memory().Create(2, mailbox::kNoContext);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1000);  // not committed
  rig.chip->mmu().SetRoot(0, rig.chip->memory().page_tables().RootOf(2));
  rig.chip->AdvanceTo(1100);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  EXPECT_EQ(rig.chip->stats().mmu_faults, 1u);
  rig.chip->AdvanceTo(1300);
  rig.chip->Latch();
  EXPECT_EQ(rig.chip->stats().mmu_faults, 1u);
  EXPECT_EQ(rig.Count(rig.first), 0u);
  EXPECT_EQ(rig.Count(rig.second), 200u);
  EXPECT_EQ(rig.Count(rig.vm), 200u);
  EXPECT_EQ(rig.Count(0), 1300u);
}

TEST(ChipTest, StatesFollowTheResident) {
  Rig rig(OneWire());
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  EXPECT_EQ(rig.chip->memory().header(rig.vm).state, mailbox::BlockState::kActive);
  EXPECT_EQ(rig.chip->memory().header(rig.first).state, mailbox::BlockState::kActive);
  EXPECT_EQ(rig.chip->memory().header(rig.second).state, mailbox::BlockState::kIdle);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  EXPECT_EQ(rig.chip->memory().header(rig.vm).state, mailbox::BlockState::kActive);
  EXPECT_EQ(rig.chip->memory().header(rig.first).state, mailbox::BlockState::kIdle);
  rig.chip->SwitchTo(0, std::nullopt);
  EXPECT_EQ(rig.chip->memory().header(rig.vm).state, mailbox::BlockState::kIdle);
}

TEST(ChipTest, TriggerNumbersTellNothingOfSwitches) {
  Rig quiet(OneWire()), busy(OneWire());
  for (uint64_t cycle = 1; cycle < 200; ++cycle) {
    busy.chip->AdvanceTo(cycle);
    busy.chip->SwitchTo(0, Binding{busy.vm, cycle % 2 == 0 ? busy.first : busy.second});
  }
  quiet.chip->AdvanceTo(200);
  busy.chip->AdvanceTo(200);
  EXPECT_EQ(quiet.chip->Latch(), busy.chip->Latch());
}

TEST(ChipTest, AVacantSliceFaultsNowhere) {
  PipelineConfig config = OneWire();
  config.trigger_period = 10;
  config.commit_period = 20;
  Rig rig(config);
  rig.chip->AdvanceTo(1000);
  rig.chip->Latch();
  EXPECT_EQ(rig.chip->stats().mmu_faults, 0u);
  EXPECT_EQ(rig.chip->stats().trigger_overruns, 0u);
}

TEST(ChipTest, ASwitchCostsMoreWhenRecordsMustDrain) {
  PipelineConfig config = OneWire();
  config.switch_step_cycles = 2;
  Rig rig(config);
  EXPECT_EQ(rig.chip->SwitchTo(0, Binding{rig.vm, rig.first}), 22u) << "nothing to flush";
  rig.chip->AdvanceTo(10);
  EXPECT_GT(rig.chip->SwitchTo(0, std::nullopt), 22u);
  EXPECT_EQ(rig.chip->stats().switches, 2u);
}

TEST(ChipTest, EverySwitchTakesTheElevenStepsInOrder) {
  Rig rig(OneWire());
  std::vector<SwitchStepEvent> steps;
  rig.chip->TraceSwitches([&](const SwitchStepEvent& event) { steps.push_back(event); });
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1000);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  ASSERT_EQ(steps.size(), 2u * kSwitchSteps);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(steps[i].step), i % kSwitchSteps + 1);
    EXPECT_EQ(steps[i].switch_number, i / kSwitchSteps + 1);
    EXPECT_EQ(steps[i].cycle, i < kSwitchSteps ? 0u : 1000u) << "no counted cycle passes in a switch";
    if (i > 0) {
      EXPECT_GT(steps[i].pipeline_cycle, steps[i - 1].pipeline_cycle);
    }
  }
  EXPECT_EQ(steps[kSwitchSteps - 1].records, 0u) << "nobody was resident before";
  const auto second = [&](SwitchStep step) { return steps[kSwitchSteps + static_cast<size_t>(step) - 1]; };
  EXPECT_EQ(second(SwitchStep::kFlushRequest).acknowledgements, 0u);
  EXPECT_EQ(second(SwitchStep::kEmit).acknowledgements, 1u);
  EXPECT_EQ(second(SwitchStep::kEmit).records, 1u);
  EXPECT_EQ(second(SwitchStep::kRun).records, 1u) << "none after the acknowledgement";
  EXPECT_EQ(SwitchStepName(SwitchStep::kRun), "run");
}

TEST(ChipTest, WrittenAndExternalTriggersSwapBanksWithoutAFlush) {
  PipelineConfig config = OneWire();
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  Rig rig(config);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(5000);
  EXPECT_EQ(rig.chip->Trigger(TriggerKind::kRegisterWrite), 1u);
  rig.chip->AdvanceTo(9000);
  EXPECT_EQ(rig.chip->Trigger(TriggerKind::kExternal), 2u);
  EXPECT_EQ(rig.chip->Latch(), 3u);
  EXPECT_EQ(rig.Count(rig.first), 9000u);
  EXPECT_EQ(rig.chip->stats().written_triggers, 2u) << "a latch is one";
  EXPECT_EQ(rig.chip->stats().external_triggers, 1u);
}

TEST(ChipTest, ChannelsCommitAtTheirOwnPeriods) {
  PipelineConfig config = OneWire();
  config.trigger_period = 1000;
  config.commit_period = 4000;
  config.hypervisor_commit_period = 0;
  config.out_of_band_commit_period = 2000;
  Rig rig(config);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(3000);
  EXPECT_EQ(rig.Count(rig.first), 0u);
  EXPECT_GT(rig.chip->out_of_band()[0], 0u);
  rig.chip->AdvanceTo(5000);
  EXPECT_GT(rig.Count(rig.first), 0u);
  EXPECT_EQ(rig.Count(0), 0u) << "waits for a latch";
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(0), 5000u);
  EXPECT_EQ(rig.chip->out_of_band()[0], 5000u);
}

TEST(ChipTest, ARetiredBlockIsFinal) {
  Rig rig(OneWire());
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(700);
  rig.chip->SwitchTo(0, std::nullopt);
  rig.chip->memory().Retire(rig.first);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  rig.chip->AdvanceTo(1000);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 700u);
  EXPECT_EQ(rig.chip->memory().header(rig.first).state, mailbox::BlockState::kRetired);
  rig.chip->memory().Renew(rig.first);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1001);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 1u) << "the new generation's";
  EXPECT_EQ(rig.Count(rig.vm), 1001u) << "the VM's goes on";
}

// Two clocks: the second has three edges per reference cycle, and two more after the last reference edge.
class TwoClocks final : public sim::WireSource {
 public:
  explicit TwoClocks(uint64_t end) : end_(end) {}
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    ones_.AddCounts(range, wires, sums);
  }
  const sim::WireSource& domain(size_t) const override { return ones_; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return domain == 0 ? cycle : 3 * cycle; }
  uint64_t CyclesHeld(size_t domain, uint64_t) const override { return domain == 0 ? end_ : 3 * end_ + 2; }

 private:
  const AllOnes ones_;
  const uint64_t end_;
};

TEST(ChipTest, AnEventIsCountedInTheCyclesOfItsOwnClock) {
  PipelineConfig config{.slices = 1, .events = 2};
  config.ccus = Pack("reference", 0, {{.wire = 0, .meaning = {0, 0}}}, UlcSpec{});
  config.ccus.push_back(Pack("other", 0, {{.wire = 0, .meaning = {1, 0}}}, UlcSpec{.domain = 1})[0]);
  Rig rig(config);
  const TwoClocks wires(2000);
  rig.chip->Attach(0, wires);
  rig.chip->AdvanceTo(100);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(1100);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  rig.chip->AdvanceTo(2000);
  rig.chip->AdvanceWithinCycle();
  rig.chip->Latch();
  const auto counters = [&](BlockId block) {
    const auto span = rig.chip->memory().counters(block);
    return std::vector<uint64_t>(span.begin(), span.end());
  };
  EXPECT_EQ(counters(rig.first), (std::vector<uint64_t>{1000, 3000}));
  EXPECT_EQ(counters(rig.second), (std::vector<uint64_t>{900, 2702}));
  EXPECT_EQ(counters(0), (std::vector<uint64_t>{1900, 5702}));
}

TEST(ChipTest, WhatIsHeldOfAReferenceCycleGoesToOneResident) {
  PipelineConfig config{.slices = 1, .events = 1};
  config.ccus = Pack("other", 0, {{.wire = 0, .meaning = {0, 0}}}, UlcSpec{.domain = 1});
  Rig rig(config);
  const TwoClocks wires(100);  // holds two cycles that belong to reference cycle 100
  rig.chip->Attach(0, wires);
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.first});
  rig.chip->AdvanceTo(100);
  rig.chip->AdvanceWithinCycle();
  rig.chip->SwitchTo(0, Binding{rig.vm, rig.second});
  rig.chip->AdvanceTo(101);
  rig.chip->Latch();
  EXPECT_EQ(rig.Count(rig.first), 302u);
  EXPECT_EQ(rig.Count(rig.second), 1u);
  EXPECT_EQ(rig.Count(0), 303u);
}

TEST(ChipTest, ReferenceTimeIsExactForLongRuns) {
  PipelineConfig config = OneWire();
  config.clock_hz = 3;
  Rig rig(config);
  rig.chip->AdvanceTo(30'000'000'000);
  EXPECT_EQ(rig.chip->ReferenceTimeNs(), 10'000'000'000'000'000'000u);
}

TEST(ChipTest, RefusesWhatCannotWork) {
  const struct {
    void (*spoil)(PipelineConfig&);
    const char* message;
  } kCases[] = {
      {[](PipelineConfig& c) { c.slices = 0; }, "slices is 0, must be from 1 to 64"},
      {[](PipelineConfig& c) { c.events = 0; }, "events is 0, must be from 1 to 4096"},
      {[](PipelineConfig& c) { c.buffer_depth = 0; }, "buffer_depth is 0, must be from 1 to 65536"},
      {[](PipelineConfig& c) { c.ccus[0].channel = 1; }, "slice0.ccu0: slice is 1, must be from 0 to 0"},
      {[](PipelineConfig& c) { c.ccus[0].ulcs[0].inputs[0].meaning.event = 1; },
       "slice0.ccu0: ulc0: event is 1, must be from 0 to 0"},
      {[](PipelineConfig& c) { c.ccus[0].ulcs[0].period = 512; },
       "slice0.ccu0: ulc0: period is 512, must be from 1 to 511"},
  };
  for (const auto& test : kCases) {
    PipelineConfig config = OneWire();
    test.spoil(config);
    EXPECT_EQ(Chip::Create(config).status().message(), test.message);
  }
}

TEST(PackTest, FillsUnitsOf45AndCollectionUnitsOf48) {
  const std::vector<CounterInput> inputs(45 * 48 + 1);
  const auto ccus = Pack("s", 0, inputs, UlcSpec{});
  ASSERT_EQ(ccus.size(), 2u);
  EXPECT_EQ(ccus[0].ulcs.size(), 48u);
  EXPECT_EQ(ccus[0].ulcs[47].inputs.size(), 45u);
  EXPECT_EQ(ccus[1].ulcs.size(), 1u);
  EXPECT_EQ(ccus[1].ulcs[0].inputs.size(), 1u);
}

}  // namespace
}  // namespace sideband::mcu
