// SPDX-License-Identifier: Apache-2.0
//
// The turns of a chip's channels, and plans that are added to it, without the chip's pipeline.
#include "secure_mcu/chip/rotation_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sideband::mcu {
namespace {

constexpr BlockId kBlock = 5;
constexpr size_t kSets = 5;
const OwnPeriods kPeriods = {{10, RotationClass::kStable}};

mailbox::RotationSettings PassesOfTwo() {
  mailbox::RotationSettings settings;
  settings.profile = mailbox::RotationProfile::kTwoSet;
  settings.sets_per_pass = 2;
  return settings;
}

class RotationPassesTest : public ::testing::Test {
 protected:
  TurnScope Begin(uint32_t generation, uint8_t channel = 0) {
    return passes_.ScopeOf({kBlock, {.uuid = uuid_, .vm = 1, .context = 0, .generation = generation}}, channel, plan_,
                           kSets, settings_);
  }

  RotationPasses passes_;
  mailbox::RotationSettings settings_ = PassesOfTwo();
  uint16_t plan_ = 0;
  Uuid uuid_{};
};

TEST_F(RotationPassesTest, CountsPassAfterPassBehindAFirstRun) {
  const TurnScope first = Begin(1);
  EXPECT_TRUE(first.is_first_run);
  EXPECT_EQ(first.sets, 1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  for (const auto& [generation, begin, sets] : {std::tuple(2, 1, 2), {3, 3, 2}, {4, 0, 1}, {5, 1, 2}}) {
    const TurnScope scope = Begin(generation);
    EXPECT_FALSE(scope.is_first_run);
    EXPECT_EQ(scope.first, begin);
    EXPECT_EQ(scope.sets, sets);
    EXPECT_EQ(scope.learnt, kPeriods);
    passes_.Keep(kBlock, 0, generation, {});  // holds no longer than its generation
  }
}

TEST_F(RotationPassesTest, GivesAGenerationTheSameSetsEverywhere) {
  EXPECT_TRUE(Begin(1, 0).is_first_run);
  EXPECT_TRUE(Begin(1, 1).is_first_run);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2, 0).learnt, kPeriods);
  EXPECT_EQ(Begin(2, 1).sets, 2);
  EXPECT_TRUE(Begin(2, 1).learnt.empty());
  passes_.Keep(kBlock, 1, 1, kPeriods);
  EXPECT_EQ(Begin(3, 1).learnt, kPeriods);
}

TEST_F(RotationPassesTest, TakesThePassThatWasAsked) {
  passes_.ChooseNext(kBlock, 2);
  const TurnScope scope = Begin(1);
  EXPECT_FALSE(scope.is_first_run);
  EXPECT_EQ(scope.first, 0);
  EXPECT_EQ(scope.sets, 1);
  EXPECT_EQ(Begin(2).first, 1);
}

TEST_F(RotationPassesTest, LearnsAgain) {
  Begin(1);
  passes_.Learn(kBlock);  // already does
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).first, 1);
  passes_.Learn(kBlock);
  EXPECT_TRUE(Begin(3).is_first_run);
  passes_.Keep(kBlock, 0, 3, {});
  const TurnScope scope = Begin(4);
  EXPECT_EQ(scope.first, 3);
  EXPECT_TRUE(scope.learnt.empty());
}

TEST_F(RotationPassesTest, LearnsAFastRunFromItsBegin) {
  settings_ = {};
  EXPECT_EQ(Begin(1).sets, kSets);
  passes_.Learn(kBlock);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
  passes_.Keep(kBlock, 0, 2, {});
  EXPECT_EQ(Begin(3).learnt, kPeriods);
}

TEST_F(RotationPassesTest, LearnsTheNextFastRunWhereNoneBegan) {
  settings_ = {};
  passes_.Learn(kBlock);
  Begin(1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
}

TEST_F(RotationPassesTest, BeginsAnewUnderAnotherPlan) {
  Begin(1);
  Begin(2);
  plan_ = 7;
  EXPECT_TRUE(Begin(2).is_first_run);
  EXPECT_EQ(Begin(3).first, 1);
}

TEST_F(RotationPassesTest, TellsAnotherVmNothing) {
  Begin(1);
  passes_.Keep(kBlock, 0, 1, kPeriods);
  EXPECT_EQ(Begin(2).learnt, kPeriods);
  uuid_.bytes[3] = 1;
  EXPECT_TRUE(Begin(3).is_first_run);
  EXPECT_TRUE(Begin(4).learnt.empty());
}

TEST(TurnRowsTest, TakesTheLowestThatAreFreeTogether) {
  TurnRows rows;
  EXPECT_EQ(rows.Take(8), 0u);
  EXPECT_EQ(rows.Take(4), 8u);
  EXPECT_EQ(rows.Take(4), 12u);
  rows.Give(8, 4);
  EXPECT_EQ(rows.Take(5), 16u);
  EXPECT_EQ(rows.Take(3), 8u);
  EXPECT_EQ(rows.free(), 64u - 8 - 3 - 4 - 5);
}

TEST(TurnRowsTest, HasAnEnd) {
  TurnRows rows;
  EXPECT_EQ(rows.Take(64), 0u);
  EXPECT_EQ(rows.Take(1), std::nullopt);
  rows.Give(0, 64);
  EXPECT_EQ(rows.Take(65), std::nullopt);
  EXPECT_EQ(rows.Take(64), 0u);
}

constexpr uint64_t kTurnSlot = 100;

// Eight events on two counters of each of two slices: four sets.
PipelineConfig FourSetConfig() {
  PipelineConfig config{.slices = 2, .events = 8};
  for (uint8_t slice = 0; slice < config.slices; ++slice) {
    UlcSpec ulc{.name = "ulc", .inputs = {}, .period = 2, .lanes = 512, .counters = 2};
    for (uint16_t event = 0; event < config.events; ++event)
      ulc.inputs.push_back({.wire = event, .meaning = {event, 0}});
    config.ccus.push_back({.name = "ccu", .channel = slice, .ulcs = {ulc}});
  }
  config.rotation.emplace();
  config.rotation->fixed = mailbox::EmptySet(config.events);
  config.rotation->settings.stable_slot = config.rotation->settings.fluctuating_slot = kTurnSlot;
  config.rotation->settings.adapt = false;
  return config;
}

class RotationTurnsTest : public ::testing::Test {
 protected:
  RotationTurns Turns() const { return {config_, SeedOf(7), Plan()}; }
  CounterPlan Plan() const { return *PlanCounters(config_, {}); }
  // The number that a tenant chooses, after others have chosen some.
  uint16_t ChooseNew(RotationTurns& turns) {
    const uint16_t number = *turns.Add(Plan(), config_.rotation->settings);
    turns.Choose(kLeaf.block, number);
    return number;
  }
  // The sets of a residency's first slots, as numbers of the plan.
  std::vector<size_t> Reside(RotationTurns& turns, uint8_t channel) {
    std::vector<size_t> sets;
    turns.Begin(channel, kLeaf, {.cycle = now_, .domains = {}});
    for (int slot = 0; slot < 40; ++slot) {
      sets.push_back(turns.select(channel));
      now_ += kTurnSlot;
      turns.EndSlot(channel, {.cycle = now_, .domains = {}});
    }
    turns.EndResidency(channel, {.cycle = now_, .domains = {}});
    const size_t first = *std::ranges::min_element(sets);
    for (size_t& set : sets) set -= first;
    return sets;
  }

  static constexpr BlockId kBlock = 3;
  const RotationLeaf kLeaf = {
      .block = kBlock, .generation = 1, .others = {}, .identity = {.vm = 1, .context = 0, .generation = 1}};
  const PipelineConfig config_ = FourSetConfig();
  uint64_t now_ = 0;
};

TEST_F(RotationTurnsTest, AnOrderThatWasSeenDoesNotComeAgainWithAnotherPlan) {
  RotationTurns turns = Turns();
  const std::vector<size_t> own = Reside(turns, 0);
  ChooseNew(turns);
  const std::vector<size_t> other = Reside(turns, 0);
  turns.Choose(kBlock, 0);
  const std::vector<size_t> again = Reside(turns, 0);
  EXPECT_NE(own, other);
  EXPECT_NE(own, again);
  EXPECT_NE(other, again);
  EXPECT_EQ(std::ranges::count(again, 0), 10) << "a quarter of the turns, as before";
}

TEST_F(RotationTurnsTest, EachSliceHasAnOrderOfItsOwn) {
  RotationTurns turns = Turns();
  EXPECT_NE(Reside(turns, 0), Reside(turns, 1));
}

TEST_F(RotationTurnsTest, TheSeedAndWhatTheVmHasChosenMakeTheOrder) {
  RotationTurns turns = Turns(), among_others = Turns();
  const uint16_t number = *among_others.Add(Plan(), config_.rotation->settings);
  among_others.Choose(/*block=*/9, number);
  EXPECT_EQ(Reside(turns, 0), Reside(among_others, 0));
  EXPECT_NE(ChooseNew(turns), ChooseNew(among_others)) << "the numbers depend on others, the order does not";
  EXPECT_EQ(Reside(turns, 0), Reside(among_others, 0));
}

TEST_F(RotationTurnsTest, ANewGenerationBeginsWithItsFirstLife) {
  RotationTurns turns = Turns(), of_one_plan = Turns();
  Reside(turns, 0);
  ChooseNew(turns);
  Reside(turns, 0);
  turns.Choose(kBlock, 0);
  RotationLeaf next = kLeaf;
  next.generation = next.identity.generation = 2;
  for (RotationTurns* each : {&turns, &of_one_plan}) each->Begin(0, next, {.cycle = now_, .domains = {}});
  EXPECT_EQ(turns.select(0), of_one_plan.select(0));
}

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
