// SPDX-License-Identifier: Apache-2.0
//
// Plans that are added to a chip, and the turns of its channels, without the chip's pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "secure_mcu/chip/rotation_turns.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kCoreAndLinkEvents = 5;
constexpr uint64_t kPlanSlot = 100;
constexpr BlockId kVm = 1;

// Four events of a slice on two counters, of which one is 1 in each cycle, and an event of the device in a clock of its
// own.
PipelineConfig CoreAndLinkConfig() {
  PipelineConfig config{.slices = 1, .events = kCoreAndLinkEvents};
  UlcSpec core{.name = "core", .inputs = {}, .period = 2, .lanes = 512, .counters = 2};
  for (uint16_t event = 0; event < 4; ++event) core.inputs.push_back({.wire = event, .meaning = {event, 0}});
  UlcSpec link{.name = "link", .domain = 2, .inputs = {{.wire = 0, .meaning = {4, 0}}}};
  config.ccus = {{.name = "slice", .channel = 0, .ulcs = {core}},
                 {.name = "device", .channel = kDeviceChannel, .ulcs = {link}}};
  config.relations = {{.kind = mailbox::Relation::Kind::kCycles, .members = {0, 1, 2, 3}}};
  config.rotation.emplace();
  mailbox::RotationSettings& settings = config.rotation->settings;
  settings.stable_slot = settings.fluctuating_slot = settings.interval = kPlanSlot;
  settings.adapt = false;
  return config;
}

RotationTurns TurnsOf(const PipelineConfig& config) {
  return RotationTurns(config, SeedOf(1), *PlanCounters(config, {}));
}

CounterPlan OneSet() { return *PlanCounters(CoreAndLinkConfig(), {.events = {0b11}, .always = {}}); }

RotationLeaf Leaf() {
  return {.block = kVm, .generation = 1, .others = {}, .identity = {.uuid = {}, .vm = 1, .context = 0}};
}

RotationInstant At(uint64_t cycle) { return {.cycle = cycle, .domains = {}}; }

TEST(RotationPlansTest, NoNumberIsUsedAgain) {
  RotationTurns turns = TurnsOf(CoreAndLinkConfig());
  const CounterPlan plan = OneSet();
  for (uint32_t i = 0; i < kAddedPlansMax; ++i) {
    const auto number = turns.Add(plan, {});
    ASSERT_TRUE(number.ok()) << number.status();
    ASSERT_EQ(*number, kFirstAddedPlan + i);
    ASSERT_LT(*number, mailbox::kForgottenPlan);
  }
  EXPECT_EQ(turns.Add(plan, {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(turns.plans().size(), mailbox::kPlansMax);
}

TEST(RotationPlansTest, APlanThatIsRefusedCostsNone) {
  RotationTurns turns = TurnsOf(CoreAndLinkConfig());
  ASSERT_EQ(turns.plans()[0].counters.sets.size(), 2);
  const uint16_t unused = *turns.Add(OneSet(), {});
  for (BlockId block = kVm; turns.plans().size() + 1 < mailbox::kPlansMax; ++block) {
    turns.Choose(block, *turns.Add(OneSet(), {}));
  }
  EXPECT_EQ(turns.Add(turns.plans()[0].counters, {}).status().code(), absl::StatusCode::kResourceExhausted)
      << "63 of 64 sets are in use";
  EXPECT_EQ(turns.plans()[1].number, unused);
  EXPECT_TRUE(turns.Add(OneSet(), {}).ok());
  EXPECT_NE(turns.plans()[1].number, unused);
}

// The catalogue has at most as many.
TEST(RotationPlansTest, KnownPlansHaveAsManySetsAsADevice) {
  RotationTurns turns = TurnsOf(CoreAndLinkConfig());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(turns.Add(turns.plans()[0].counters, {}).ok());
    size_t sets = 0;
    for (const TurnPlan& plan : turns.plans()) sets += plan.counters.sets.size();
    ASSERT_LE(sets, mailbox::kRotationSetsMax);
  }
}

// The chip's other clocks are not the slice's.
TEST(RotationPlansTest, AChannelNeedNotHaveEveryClock) {
  const PipelineConfig config = CoreAndLinkConfig();
  ASSERT_EQ(RotationLines(config).size(), 3);
  RotationTurns turns = TurnsOf(config);
  turns.Begin(0, Leaf(), At(0));
  turns.EndSlot(0, At(kPlanSlot));
  turns.Show(0, At(kPlanSlot + 20));
  EXPECT_EQ(turns.NumbersOf(kVm, 1).parts[0].enabled, std::vector<uint64_t>{kPlanSlot + 20});
}

// The hypervisor's cycles are none of the turn's.
TEST(RotationPlansTest, ATurnIsInOwnTime) {
  PipelineConfig config = CoreAndLinkConfig();
  config.rotation->settings.profile = mailbox::RotationProfile::kTwoSet;
  RotationTurns turns = TurnsOf(config);
  ASSERT_TRUE(turns.ChoosePass(kVm, 0).ok());
  turns.Begin(0, Leaf(), At(0));
  const uint8_t select = turns.select(0);
  turns.Stop(0, kPlanSlot / 2);
  turns.EndResidency(0, At(2 * kPlanSlot));
  turns.Begin(0, Leaf(), At(3 * kPlanSlot));
  EXPECT_EQ(turns.select(0), select) << "half of the turn is left";
  EXPECT_EQ(turns.EndOf(0), 3 * kPlanSlot + kPlanSlot / 2);
}

TEST(RotationPlansTest, ExitsOfAPlanOfOneSetAreForgotten) {
  RotationTurns turns = TurnsOf(CoreAndLinkConfig());
  turns.Choose(kVm, *turns.Add(OneSet(), CoreAndLinkConfig().rotation->settings));
  turns.Begin(0, Leaf(), At(0));
  for (uint64_t cycle = 10; cycle < 10'000; cycle += 10) {
    turns.Stop(0, cycle);
    turns.Resume(0, cycle + 5);
    if (cycle % 100 == 0) turns.Show(0, At(cycle + 5));
  }
  EXPECT_LE(turns.clock_changes(0), 21);
  EXPECT_EQ(turns.EndOf(0), OwnClock::kNever);
}

// By their relation two events leave the others less and less, although it never left them less than nothing.
TEST(RotationPlansTest, WhatIsShownNeverFallsWithinASlot) {
  RotationTurns turns = TurnsOf(CoreAndLinkConfig());
  turns.Begin(0, Leaf(), At(0));
  const mailbox::EventSet& in_turn = turns.connected()[turns.select(0) - kTurnSelectFirst];
  std::vector<uint64_t> counts(kCoreAndLinkEvents);
  for (uint16_t event = 0; event < 4; ++event) counts[event] = mailbox::Includes(in_turn, event) ? 10 : 0;
  turns.Show(0, At(10));
  const mailbox::BlockRotation before = turns.NumbersOf(kVm, 1);
  turns.AddCounts(0, counts);
  turns.Show(0, At(20));
  const mailbox::BlockRotation now = turns.NumbersOf(kVm, 1);
  for (size_t i = 0; i < now.events.size(); ++i) {
    EXPECT_GE(now.events[i].upper, before.events[i].upper) << i;
    EXPECT_GE(now.events[i].estimate, before.events[i].estimate) << i;
    EXPECT_LE(now.events[i].estimate, now.events[i].upper) << i;
  }
}

TEST(RotationPlansTest, WhatForgottenPlansCountedAtLeastStays) {
  RotationNumbers numbers(/*events=*/2);
  const std::vector<size_t> indices = {0, 1};
  LeafNumbers now{.enabled = {100, 60}, .running = {30, 20, 60, 0, 0, 30}, .events = {{}, {}}};
  for (const uint16_t plan : {5, 6}) numbers.Add(kVm, 1, plan, {}, now, indices);
  numbers.Forget(5);
  numbers.Forget(6);
  const mailbox::BlockRotation row = numbers.Of(kVm, 1);
  ASSERT_EQ(row.parts.size(), 1);
  EXPECT_EQ(row.parts[0].plan, mailbox::kForgottenPlan);
  EXPECT_EQ(row.parts[0].enabled, (std::vector<uint64_t>{200, 120}));
  EXPECT_EQ(row.parts[0].running, (std::vector<uint64_t>{60, 40})) << "of the sets that ran";
}

}  // namespace
}  // namespace sideband::mcu
