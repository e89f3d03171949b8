// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_life.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace sideband::mcu {
namespace {

using mailbox::Relation;

constexpr uint64_t kSlotCycles = 100;
constexpr absl::uint128 kMost = kSlotCycles * kGainScale;
using Counts = std::vector<uint64_t>;

// Four events of one wire each. Set 0 has all of them, set 1 the first, set 2 the last, set 3 the second and the last.
class SlotRelationsTest : public ::testing::Test {
 protected:
  static constexpr size_t kAll = 0, kFirst = 1, kLast = 2, kSecondAndLast = 3;

  SlotRelations Of(Relation relation, std::vector<DerivedEvent> derived = {}) {
    PipelineConfig config{.slices = 1, .events = 4};
    UlcSpec ulc{.name = "ulc", .inputs = {}, .period = 2, .lanes = 512, .counters = 2};
    for (uint16_t event = 0; event < 4; ++event) ulc.inputs.push_back({.wire = event, .meaning = {event, 0}});
    config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {ulc}}};
    config.rotation.emplace();
    config.rotation->fixed = mailbox::EmptySet(config.events);
    config.relations = {std::move(relation)};
    TurnPlan plan{.counters = {.sets = {{0b1111}, {0b0001}, {0b1000}, {0b1010}}, .fixed = {0}, .derived = derived},
                  .settings = {}};
    return SlotRelations(std::make_shared<RotationTable>(config, RotationLines(config), /*channel=*/0, plan));
  }
  // Whether a fresh one is broken by these counts.
  bool Breaks(const Relation& relation, size_t set, const Counts& counts) {
    SlotRelations relations = Of(relation);
    relations.Check(set, lengths_, counts);
    return relations.broken() > 0;
  }
  absl::uint128 Left(const SlotRelations& relations, size_t set, uint16_t event, const Counts& counts) {
    return relations.Leave(set, event, lengths_, counts);
  }

  const SlotLengths lengths_{.enabled = {kSlotCycles}, .running = {kSlotCycles}};
  const Relation cycles_ = {.members = {0, 1}};                                                  // 0 + 1 = cycles
  const Relation sum_ = {.kind = Relation::Kind::kSum, .members = {0, 1}, .whole = 3};           // 0 + 1 = 3
  const Relation at_most_ = {.kind = Relation::Kind::kAtMost, .members = {0}, .whole = 3};       // 3 <= 0
  const Relation at_most_last_ = {.kind = Relation::Kind::kAtMost, .members = {3}, .whole = 0};  // 0 <= 3
};

TEST_F(SlotRelationsTest, ASumOfCyclesHoldsOrBreaks) {
  EXPECT_FALSE(Breaks(cycles_, kAll, {60, 40, 0, 0}));
  EXPECT_TRUE(Breaks(cycles_, kAll, {60, 39, 0, 0}));
  EXPECT_TRUE(Breaks(cycles_, kAll, {60, 41, 0, 0}));
  // A part of the members shows only that they are not too many.
  EXPECT_FALSE(Breaks(cycles_, kFirst, {100, 0, 0, 0}));
  EXPECT_TRUE(Breaks(cycles_, kFirst, {101, 0, 0, 0}));
  EXPECT_FALSE(Breaks(cycles_, kLast, {200, 200, 0, 0})) << "neither is known";
  EXPECT_FALSE(Breaks({.members = {0, 1}, .times = 2}, kAll, {150, 50, 0, 0}));
  EXPECT_TRUE(Breaks({.members = {0, 1}, .times = 2}, kAll, {60, 40, 0, 0}));
}

TEST_F(SlotRelationsTest, ASumOfEventsHoldsOrBreaks) {
  EXPECT_FALSE(Breaks(sum_, kAll, {20, 30, 0, 50}));
  EXPECT_TRUE(Breaks(sum_, kAll, {20, 30, 0, 49}));
  EXPECT_TRUE(Breaks(sum_, kAll, {20, 30, 0, 51}));
  EXPECT_FALSE(Breaks(sum_, kSecondAndLast, {0, 50, 0, 50}));
  EXPECT_TRUE(Breaks(sum_, kSecondAndLast, {0, 51, 0, 50}));
  EXPECT_FALSE(Breaks(sum_, kFirst, {70, 0, 0, 0})) << "the whole is not known";
}

TEST_F(SlotRelationsTest, ALimitHoldsOrBreaks) {
  EXPECT_FALSE(Breaks(at_most_, kAll, {50, 0, 0, 50}));
  EXPECT_TRUE(Breaks(at_most_, kAll, {49, 0, 0, 50}));
  EXPECT_FALSE(Breaks(at_most_, kLast, {0, 0, 0, 50})) << "the limit is not known";
  EXPECT_FALSE(Breaks(at_most_, kFirst, {0, 0, 0, 50}));
}

TEST_F(SlotRelationsTest, ABrokenRelationIsOffForGood) {
  SlotRelations relations = Of(cycles_);
  const Counts broken = {60, 41, 0, 0};
  EXPECT_EQ(Left(relations, kFirst, 1, {60, 0, 0, 0}), 40 * kGainScale);
  relations.Check(kAll, lengths_, broken);
  relations.Check(kAll, lengths_, broken);
  relations.Check(kAll, lengths_, Counts{60, 40, 0, 0});
  EXPECT_EQ(relations.broken(), 1u);
  relations.BeginSlot();
  EXPECT_EQ(Left(relations, kFirst, 1, {60, 0, 0, 0}), kMost) << "nothing is ruled out any more";
}

TEST_F(SlotRelationsTest, ADerivedEventIsKnownWhileItsRelationIsUsed) {
  SlotRelations relations = Of(cycles_, {{.event = 1, .relation = 0}});
  Counts counts = {60, 0, 0, 0}, gained(4);
  relations.Derive(kAll, lengths_, counts, gained);
  EXPECT_EQ(gained, (Counts{0, 40, 0, 0}));
  relations.Check(kAll, lengths_, counts);
  EXPECT_EQ(relations.broken(), 0u);
  // More than there are cycles: nothing follows, which the check notices.
  counts = {101, 0, 0, 0}, gained = Counts(4);
  relations.Derive(kAll, lengths_, counts, gained);
  EXPECT_EQ(gained, Counts(4));
  EXPECT_TRUE(relations.IsKnown(kAll, 1));
  relations.Check(kAll, lengths_, counts);
  EXPECT_EQ(relations.broken(), 1u);
  EXPECT_FALSE(relations.IsKnown(kAll, 1));
  EXPECT_TRUE(relations.IsKnown(kAll, 0)) << "it is counted";
  EXPECT_EQ(Left(relations, kAll, 1, counts), kMost);
  counts = {60, 0, 0, 0};
  relations.Derive(kAll, lengths_, counts, gained);
  EXPECT_EQ(gained, Counts(4)) << "of a relation that is off";
}

TEST_F(SlotRelationsTest, WhatIsLeftIsWhatTheRelationsDoNotRuleOut) {
  EXPECT_EQ(Left(Of(cycles_), kFirst, 1, {60, 0, 0, 0}), 40 * kGainScale);
  EXPECT_EQ(Left(Of(cycles_), kLast, 1, {60, 0, 0, 0}), kMost) << "the other member is not known";
  EXPECT_EQ(Left(Of(cycles_), kFirst, 2, {60, 0, 0, 0}), kMost) << "an event of no relation";
  EXPECT_EQ(Left(Of({.members = {0, 1}, .times = 3}), kFirst, 1, {60, 0, 0, 0}), kMost) << "not above its gain";
  EXPECT_EQ(Left(Of(sum_), kLast, 1, {0, 0, 0, 30}), 30 * kGainScale);
  EXPECT_EQ(Left(Of(sum_), kSecondAndLast, 0, {0, 20, 0, 30}), 10 * kGainScale);
  EXPECT_EQ(Left(Of(sum_), kSecondAndLast, 0, {0, 40, 0, 30}), 0u) << "not below 0";
  EXPECT_EQ(Left(Of(sum_), kFirst, 3, {0, 0, 0, 0}), kMost) << "what the other member can gain, with the known one's";
  EXPECT_EQ(Left(Of(at_most_), kFirst, 3, {25, 0, 0, 0}), 25 * kGainScale);
  EXPECT_EQ(Left(Of(at_most_last_), kLast, 0, {0, 0, 0, 7}), 7 * kGainScale);
  EXPECT_EQ(Left(Of(at_most_), kLast, 0, {0, 0, 0, 7}), kMost) << "a lower limit rules nothing out";
}

// A saturated count is too small: it neither breaks a relation nor bounds another event.
TEST_F(SlotRelationsTest, FromASaturatedCountNothingFollows) {
  SlotRelations relations = Of(cycles_, {{.event = 1, .relation = 0}});
  Counts counts = {10, 0, 0, 0}, gained(4);
  relations.Saturate(0);
  relations.Saturate(0);
  EXPECT_FALSE(relations.IsKnown(kAll, 0));
  EXPECT_FALSE(relations.IsKnown(kAll, 1)) << "it would be derived from the count";
  relations.Derive(kAll, lengths_, counts, gained);
  EXPECT_EQ(gained, Counts(4));
  relations.Check(kAll, lengths_, Counts{10, 20, 0, 0});
  EXPECT_EQ(relations.broken(), 0u);
  EXPECT_EQ(Left(relations, kAll, 1, counts), kMost);
  relations.BeginSlot();
  EXPECT_TRUE(relations.IsKnown(kAll, 1));
  SlotRelations limited = Of(at_most_);
  limited.Saturate(0);
  EXPECT_EQ(Left(limited, kFirst, 3, {25, 0, 0, 0}), kMost);
  limited.Check(kAll, lengths_, Counts{25, 0, 0, 50});
  EXPECT_EQ(limited.broken(), 0u);
}

// The life of one context: relations that cease to hold, epochs of long residencies, and residencies within a cycle.
constexpr uint64_t kLifeSlot = 100;
constexpr uint16_t kBusy = 0, kIdle = 1, kTotal = 2, kFirst = 3, kOther = 7, kCoreEvents = 9;

PipelineConfig CoreConfig(uint32_t counters) {
  PipelineConfig config{.slices = 1, .events = kCoreEvents};
  UlcSpec core{.name = "core", .inputs = {}, .period = 2, .lanes = 512, .counters = counters};
  config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {core}}};
  config.rotation.emplace();
  config.rotation->fixed = mailbox::EmptySet(config.events);
  config.rotation->settings.stable_slot = config.rotation->settings.fluctuating_slot = kLifeSlot;
  config.rotation->settings.adapt = false;
  return config;
}

void AddEvents(uint16_t first, uint16_t end, UlcSpec& unit) {
  for (uint16_t event = first; event < end; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
}

// kBusy is fixed, and kIdle derived from it.
PipelineConfig WithIdle() {
  PipelineConfig config = CoreConfig(3);
  AddEvents(kBusy, kOther, config.ccus[0].ulcs[0]);
  mailbox::Insert(kBusy, config.rotation->fixed);
  config.relations = {{.kind = mailbox::Relation::Kind::kCycles, .members = {kBusy, kIdle}}};
  return config;
}

// And kTotal from kIdle and kFirst.
PipelineConfig WithTotal() {
  PipelineConfig config = WithIdle();
  config.ccus[0].ulcs[0].inputs.push_back({.wire = kOther, .meaning = {kTotal, 0}});
  config.relations.insert(config.relations.begin(),
                          {.kind = mailbox::Relation::Kind::kSum, .members = {kIdle, kFirst}, .whole = kTotal});
  return config;
}

// Two sets of one event.
PipelineConfig OfTwo() {
  PipelineConfig config = CoreConfig(1);
  AddEvents(kFirst, kFirst + 2, config.ccus[0].ulcs[0]);
  return config;
}

class RotationLifeTest : public testing::Test {
 protected:
  void Start(const PipelineConfig& config) {
    TurnPlan plan{.counters = *PlanCounters(config, {}), .settings = config.rotation->settings};
    table_ = std::make_shared<RotationTable>(config, RotationLines(config), 0, plan);
    const RotationIdentity identity{.uuid = {}, .vm = 1, .context = 0, .generation = 1};
    const size_t sets = table_->sets();
    life_ = std::make_unique<RotationLife>(table_, RotationOrder(SeedOf(1), identity, sets), TurnScope{.sets = sets});
  }

  size_t IndexOf(uint16_t event) const {
    return std::ranges::find(table_->events, event, &RotatedEvent::event) - table_->events.begin();
  }
  LeafNumbers::Event Shown(uint16_t event) const { return life_->Show({}, {}).events[IndexOf(event)]; }
  bool IsInTurn(uint16_t event) const { return table_->events[IndexOf(event)].IsIn(life_->set()); }

  // A slot in which `busy` and `first` are counted, if they are in turn; returns what is derived.
  std::vector<uint64_t> Slot(uint64_t busy, uint64_t first, uint64_t cycles = kLifeSlot) {
    const SlotLengths lengths{.enabled = {cycles}, .running = {cycles}, .own = cycles};
    std::vector<uint64_t> counts(kCoreEvents), gained(kCoreEvents);
    counts[kBusy] = busy;
    counts[kFirst] = IsInTurn(kFirst) ? first : 0;
    life_->Derive(lengths, counts, gained);
    life_->EndSlot(lengths, counts, cycles == kLifeSlot);
    return gained;
  }
  void PlayUntilInTurn(uint16_t event) {
    while (!IsInTurn(event)) Slot(40, 7);
  }

  std::shared_ptr<const RotationTable> table_;
  std::unique_ptr<RotationLife> life_;
};

TEST_F(RotationLifeTest, DerivesNothingFromWhatCouldNotBeDerived) {
  Start(WithTotal());
  ASSERT_EQ(table_->plan.derived, (std::vector<DerivedEvent>{{kIdle, 1}, {kTotal, 0}}));
  life_->BeginResidency();
  PlayUntilInTurn(kTotal);
  const std::vector<uint64_t> gained = Slot(40, 7);
  EXPECT_EQ(gained[kIdle], 60);
  EXPECT_EQ(gained[kTotal], 67);
  PlayUntilInTurn(kTotal);
  const std::vector<uint64_t> none(kCoreEvents);
  EXPECT_EQ(Slot(120, 7), none) << "busier than there are cycles";
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Slot(40, 7), none);
  EXPECT_EQ(life_->broken(), 1u);
}

// The events that it is derived from are not known, but the relation that derives it holds.
TEST_F(RotationLifeTest, OneRelationIsNotBlamedForAnother) {
  Start(WithTotal());
  life_->BeginResidency();
  PlayUntilInTurn(kTotal);
  const uint64_t before = Shown(kTotal).upper;
  Slot(120, 7);
  EXPECT_EQ(Shown(kTotal).upper, before + kLifeSlot + 7) << "what kIdle can have had, and kFirst: not twice the cycles";
}

TEST_F(RotationLifeTest, WhatIsNotDerivedAnyMoreIsAnEstimate) {
  Start(WithIdle());
  ASSERT_EQ(table_->events[IndexOf(kIdle)].sets, (uint64_t{1} << table_->sets()) - 1);
  life_->BeginResidency();
  for (uint64_t i = 0; i < 6; ++i) Slot(40 + i, 7);
  const LeafNumbers::Event exact = Shown(kIdle);
  EXPECT_EQ(exact.estimate, exact.upper);
  EXPECT_EQ(exact.variance, 0);
  Slot(120, 7);
  for (int i = 0; i < 5; ++i) Slot(40, 7);
  life_->EndResidency();
  const LeafNumbers::Event shown = Shown(kIdle);
  EXPECT_EQ(shown.estimate, 2 * exact.estimate) << "half of the cycles were seen";
  EXPECT_EQ(shown.upper, exact.estimate + 6 * kLifeSlot);
  EXPECT_GT(shown.variance, 0);
}

// A context that was cut short before, and then has the slice for itself.
TEST_F(RotationLifeTest, AnEpochOfALongResidencyCloses) {
  PipelineConfig config = OfTwo();
  config.rotation->settings.adapt = true;
  Start(config);
  life_->BeginResidency();
  Slot(0, 0, kLifeSlot / 2);
  life_->EndResidency();
  life_->BeginResidency();
  // One set is uneven; the other one needs no more turns.
  const auto play = [this](int slots) {
    int turns = 0;
    for (int i = 0; i < slots; ++i) {
      if (IsInTurn(kFirst)) ++turns;
      Slot(0, turns % 2 == 0 ? 100 : 0);
    }
    return turns;
  };
  EXPECT_EQ(play(128), 64);
  EXPECT_GT(play(64), 40) << "shares change where an epoch closes";
}

// A clock of its own can have edges where the reference clock has none.
TEST_F(RotationLifeTest, CountsWithinOneReferenceCycleAreKept) {
  PipelineConfig config = OfTwo();
  UlcSpec& other = config.ccus[0].ulcs.emplace_back(UlcSpec{.name = "other", .domain = 1, .inputs = {}, .counters = 1});
  AddEvents(kOther, kCoreEvents, other);
  Start(config);
  life_->BeginResidency();
  std::vector<uint64_t> counts(kCoreEvents);
  const bool is_first = IsInTurn(kOther);
  const uint16_t counted = is_first ? kOther : kOther + 1, missed = is_first ? kOther + 1 : kOther;
  counts[counted] = 3;
  life_->EndSlot({.enabled = {0, 3}, .running = {0, 3}, .own = 0}, counts, false);
  life_->EndResidency();
  EXPECT_EQ(Shown(counted).upper, 3);
  EXPECT_EQ(Shown(counted).estimate, 3);
  EXPECT_EQ(Shown(missed).upper, 3) << "it could have gained as much";
}

}  // namespace

}  // namespace sideband::mcu
