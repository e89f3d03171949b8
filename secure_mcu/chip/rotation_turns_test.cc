// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sideband::mcu {
namespace {

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
