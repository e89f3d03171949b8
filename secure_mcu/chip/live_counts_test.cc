// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/clocked_chip.h"
#include "sim/workload/synthetic_slice.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kBegin = 1000;
constexpr uint64_t kStart = 123'457;

sim::Workload MakeWorkload() {
  std::vector<std::string> names;
  for (uint32_t event = 0; event < mailbox::kEventsMax; ++event) names.push_back(absl::StrCat("event_", event));
  return sim::Workload::Create({.phases = {{sim::PhaseKind::kGemm, 20'000}, {sim::PhaseKind::kAttention, 9'000}},
                                .seed = 7,
                                .wire_events = std::move(names)})
      .value();
}

// Wire n is event n.
PipelineConfig LargestConfig() {
  PipelineConfig config{.slices = 1, .events = mailbox::kEventsMax, .clock_hz = 1'000'000'000};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 10'000;
  std::vector<CounterInput> inputs(mailbox::kEventsMax);
  for (uint32_t wire = 0; wire < mailbox::kEventsMax; ++wire) {
    inputs[wire] = {.wire = wire, .meaning = {static_cast<uint16_t>(wire), 0}};
  }
  config.ccus = Pack("slice0", 0, inputs, {});
  return config;
}

// The counters of a manager, with the cycle at which they were taken before them.
std::vector<uint64_t> ReadManager(Chip& chip, uint8_t extend) {
  const auto write = [&](HpcRegister which, uint64_t value) {
    chip.live().hpc().Write(0, which, value, HpcPrivilege::kUser, chip.now());
  };
  write(HpcRegister::kHpcm, ~uint64_t{0});
  write(HpcRegister::kHpcc, uint64_t{extend} << hpc::kHpccExtendLsb | hpc::kHpccStamp | hpc::kHpccTrigger);
  chip.AdvanceTo(chip.now() + 2 * hpc::kHopCycles + hpc::kCountersPerManager * hpc::kLookupCycles + 2);
  std::vector<uint64_t> words(1 + hpc::kCountersPerManager);
  for (uint64_t& word : words) word = chip.live().hpc().Read(0, HpcRegister::kHpcr, chip.now());
  return words;
}

TEST(LiveCountsTest, EveryEventOfTheLargestCatalogueIsExactInOnePassOfItsManagers) {
  const auto chip = Chip::Create(LargestConfig()).value();
  sim::SyntheticSlice wires;
  ASSERT_TRUE(wires.Add("vm", "context", MakeWorkload()).ok());
  chip->Attach(0, wires);
  chip->Attach(kDeviceChannel, wires);
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext), context = chip->memory().Create(1, 0);
  chip->guests().vm_control(vm).useren = true;
  chip->AdvanceTo(kBegin);
  wires.SwitchIn("vm", "context", kBegin);
  chip->SwitchTo(0, Binding{vm, context});
  chip->AdvanceTo(kStart);

  const sim::Workload truth = MakeWorkload();
  for (uint8_t extend = 0; extend < mailbox::kEventsMax / hpc::kCountersPerManager; ++extend) {
    const std::vector<uint64_t> words = ReadManager(*chip, extend);
    for (uint32_t counter = 0; counter < hpc::kCountersPerManager; ++counter) {
      const sim::WireId wire = hpc::kCountersPerManager * extend + counter;
      ASSERT_EQ(words[1 + counter], truth.CumulativeCount(wire, words[0] - kBegin)) << "event " << wire;
    }
  }
}

// All wires of one collection unit are one event, so that its counter saturates soon: no trigger empties it.
PipelineConfig SaturatingConfig() {
  PipelineConfig config{.slices = 1, .events = 1};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  config.ccus = Pack("slice0", 0, std::vector<CounterInput>(kCcuUlcsMax * kUlcCountersMax), {});
  config.ccus[0].threshold = 0;
  return config;
}

uint16_t FlagsOfLiveBlock(Chip& chip, BlockId block) {
  chip.live().RequestBlock(block);
  while (chip.live().hpc().NextStop() != kNoCycle) chip.AdvanceTo(chip.live().hpc().NextStop());
  return chip.live().TakeBlock().value().flags;
}

TEST(LiveCountsTest, ALiveBlockIsFlaggedAsSoonAsACountOnItsWayIsLost) {
  const auto chip = Chip::Create(SaturatingConfig()).value();
  const AllOnes wires;
  chip->Attach(0, wires);
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext),
                other = chip->memory().Create(2, mailbox::kNoContext);
  chip->SwitchTo(0, Binding{vm, std::nullopt});
  constexpr uint64_t kGain = kCcuUlcsMax * kUlcCountersMax;
  chip->AdvanceTo(kCcuCounterMax / kGain);
  EXPECT_EQ(FlagsOfLiveBlock(*chip, vm), 0);
  chip->AdvanceTo(kCcuCounterMax / kGain + 2 * kUlcHistoryCycles);
  EXPECT_EQ(chip->memory().header(vm).flags, 0) << "nothing is committed yet";
  for (const BlockId block : {vm, BlockId{0}}) EXPECT_EQ(FlagsOfLiveBlock(*chip, block), mailbox::kFlagOverflow);
  EXPECT_EQ(FlagsOfLiveBlock(*chip, other), 0);
}

}  // namespace
}  // namespace sideband::mcu
