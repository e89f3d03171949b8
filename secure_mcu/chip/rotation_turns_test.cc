// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  // What a tenant has chosen, after others have chosen some.
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

}  // namespace

}  // namespace sideband::mcu
