// SPDX-License-Identifier: Apache-2.0
//
// Law 11 (counter-rotation.md): what is derived equals the truth over the slots of its sets, no set exceeds a unit's
// counters, and what another event is derived from is never split.
#include "secure_mcu/chip/rotation_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::mcu {
namespace {

using mailbox::EventSet;
using mailbox::Includes;
using mailbox::Relation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CounterInput Input(uint16_t event, uint8_t shift = 0) { return {.wire = event, .meaning = {event, shift}}; }

std::vector<CounterInput> OneBit(uint16_t first, size_t count) {
  std::vector<CounterInput> inputs;
  for (size_t i = 0; i < count; ++i) inputs.push_back(Input(static_cast<uint16_t>(first + i)));
  return inputs;
}

UlcSpec Unit(const std::string& name, std::vector<CounterInput> inputs, uint32_t counters) {
  return {.name = name, .inputs = std::move(inputs), .counters = counters};
}

PipelineConfig ChipOf(uint32_t events, std::vector<UlcSpec> units) {
  PipelineConfig config{.events = events, .ccus = {{.name = "ccu0", .ulcs = std::move(units)}}};
  config.rotation = RotationSpec();
  return config;
}

EventSet Events(const std::vector<size_t>& events, size_t size = 64) {
  EventSet set = mailbox::EmptySet(size);
  for (const size_t event : events) mailbox::Insert(event, set);
  return set;
}

std::vector<size_t> ListOf(const EventSet& set) {
  std::vector<size_t> list;
  for (size_t event = 0; event < set.size() * 64; ++event) {
    if (Includes(set, event)) list.push_back(event);
  }
  return list;
}

CounterPlan Planned(const PipelineConfig& config, const PlanWishes& wishes = {}) {
  EXPECT_EQ(Validate(config), absl::OkStatus());
  const auto plan = PlanCounters(config, wishes);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.value_or(CounterPlan{.sets = {mailbox::EmptySet(config.events)}, .fixed = {}, .derived = {}});
}

std::string RefusedPlan(const PipelineConfig& config, const PlanWishes& wishes) {
  const auto plan = PlanCounters(config, wishes);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

// 236 events and 6 counters, of which cycles and instructions have one each in every set.
PipelineConfig Reference() {
  PipelineConfig config = ChipOf(236, {Unit("core", OneBit(0, 236), 6)});
  config.rotation->fixed = Events({0, 1}, 236);
  return config;
}

TEST(RotationPlanTest, HasAsManySetsAsTheReferenceHasRuns) {
  const CounterPlan plan = Planned(Reference());
  EXPECT_EQ(plan.sets.size(), 59u);
  EXPECT_EQ(Passes(plan.sets.size(), 1), 59u);
  EXPECT_EQ(Passes(plan.sets.size(), 2), 30u);
  EXPECT_EQ(Passes(plan.sets.size(), 0), 1u);
  EXPECT_EQ(ListOf(plan.sets[0]), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ListOf(plan.fixed), (std::vector<size_t>{0, 1}));
}

// Passes = ⌈(m - f) / (n - f)⌉ for one-bit events of one unit.
RC_GTEST_PROP(RotationPlanTest, NeedsNoMoreSetsThanTheFormula, ()) {
  const auto counters = *rc::gen::inRange<uint32_t>(1, 46);
  const auto fixed = *rc::gen::inRange<uint32_t>(0, counters);
  const auto events = *rc::gen::inRange<uint32_t>(counters + 1, counters + 1 + 60 * (counters - fixed));
  const size_t sets = (events - fixed + counters - fixed - 1) / (counters - fixed);
  PipelineConfig config = ChipOf(events, {Unit("core", OneBit(0, events), counters)});
  config.rotation->fixed = mailbox::EmptySet(events);
  for (size_t event = 0; event < fixed; ++event) mailbox::Insert(event, config.rotation->fixed);
  const auto plan = PlanCounters(config, {.fill = *rc::gen::arbitrary<bool>()});
  RC_ASSERT(plan.ok() == (sets <= mailbox::kRotationSetsMax));
  if (plan.ok()) RC_ASSERT(plan->sets.size() == sets);
}

// The map of a recorded GPU with four cores and eight threads a core: each core is in one of eight states, and each of
// four numbers of lanes is the sum of four events.
TEST(RotationPlanTest, DerivesTwentyCountersOfTheRecordedGpu) {
  constexpr uint16_t kCoreEvents = 25, kStates = 8, kLanes = 4;
  std::vector<CounterInput> inputs = OneBit(0, 4 * kCoreEvents);
  PipelineConfig config;
  for (uint16_t core = 0; core < 4; ++core) {
    Relation states;
    for (uint16_t state = 0; state < kStates; ++state) states.members.push_back(core * kCoreEvents + state);
    config.relations.push_back(states);
  }
  for (uint16_t port = 0; port < 4; ++port) {
    const uint16_t first = 4 * kCoreEvents + port * (kLanes + 1);
    Relation sum{.kind = Relation::Kind::kSum, .whole = static_cast<uint16_t>(first + kLanes)};
    for (uint16_t lane = 0; lane < kLanes; ++lane) {
      inputs.push_back(Input(first + lane));
      sum.members.push_back(first + lane);
    }
    inputs.insert(inputs.end(), kLanes, Input(sum.whole));
    config.relations.push_back(sum);
  }
  for (uint16_t event = 120; event < 123; ++event) inputs.push_back(Input(event));
  ASSERT_EQ(inputs.size(), 135u);
  const PipelineConfig chip = ChipOf(123, {Unit("slice", inputs, 23)});
  config.events = chip.events, config.ccus = chip.ccus, config.rotation = chip.rotation;

  const CounterPlan plan = Planned(config, {.fill = false});
  EXPECT_EQ(plan.derived.size(), 8u);
  size_t counted = 0;
  for (const CounterInput& input : inputs) counted += plan.IsDerived(input.meaning.event) ? 0 : 1;
  EXPECT_EQ(counted, 115u);
  EXPECT_EQ(plan.sets.size(), 5u) << "115 counters, 23 in a set";
  EXPECT_EQ(CountingOf(plan, 7), mailbox::Counting::kDerived) << "the last state";
  EXPECT_EQ(CountingOf(plan, 104), mailbox::Counting::kDerived) << "the sum";
}

TEST(RotationPlanTest, DerivesFromWhatIsDerived) {
  // 0 + 1 + 2 = cycles; 3 = 2 + 4. Whatever of them is derived, a set has all that it needs.
  PipelineConfig config = ChipOf(12, {Unit("core", OneBit(0, 12), 5)});
  config.relations = {{.members = {0, 1, 2}}, {.kind = Relation::Kind::kSum, .members = {2, 4}, .whole = 3}};
  const CounterPlan plan = Planned(config);
  EXPECT_THAT(plan.derived, ElementsAre(DerivedEvent{2, 0}, DerivedEvent{3, 1}));
  EXPECT_EQ(plan.sets.size(), 2u);
}

TEST(RotationPlanTest, DerivesNothingFromItself) {
  // Both relations have the same events: only one of them is worth a counter.
  PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 4)});
  config.relations = {{.members = {0, 1}}, {.kind = Relation::Kind::kSum, .members = {1}, .whole = 0}};
  EXPECT_EQ(Planned(config).derived.size(), 1u);
}

TEST(RotationPlanTest, DerivesNothingFromWhatIsNotCounted) {
  PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 2)});
  config.relations = {{.members = {0, 1}}};
  const CounterPlan plan = Planned(config, {.events = Events({1, 2, 3, 4})});
  EXPECT_TRUE(plan.derived.empty());
  EXPECT_EQ(plan.sets.size(), 2u);
}

TEST(RotationPlanTest, DerivesFromFixedEventsWhatIsNotWanted) {
  PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 4)});
  config.rotation->fixed = Events({0});
  config.relations = {{.kind = Relation::Kind::kSum, .members = {0}, .whole = 7}};
  const CounterPlan plan = Planned(config, {.events = Events({1, 2, 3})});
  EXPECT_THAT(plan.derived, ElementsAre(DerivedEvent{7, 0}));
  ASSERT_EQ(plan.sets.size(), 1u);
  EXPECT_TRUE(Includes(plan.sets[0], 7));
}

TEST(RotationPlanTest, WhatIsAlwaysCountedMayTakeAllCounters) {
  PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 4)});
  config.rotation->fixed = Events({0});
  config.relations = {{.kind = Relation::Kind::kSum, .members = {0}, .whole = 7}};
  const CounterPlan plan = Planned(config, {.events = Events({1, 2, 3}), .always = Events({1, 2, 3})});
  ASSERT_EQ(plan.sets.size(), 1u);
  EXPECT_EQ(ListOf(plan.sets[0]), (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(RotationPlanTest, DerivesNothingThatASetCannotHold) {
  PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 2)});
  config.relations = {{.members = {0, 1, 2, 3}}};
  EXPECT_TRUE(Planned(config).derived.empty());
}

TEST(RotationPlanTest, DerivesFromUnitsThatDoNotTurn) {
  PipelineConfig config = ChipOf(6, {Unit("core", OneBit(0, 4), 2), Unit("l2", OneBit(4, 2), 2)});
  config.relations = {{.kind = Relation::Kind::kSum, .members = {4, 5}, .whole = 3}};
  const CounterPlan plan = Planned(config);
  EXPECT_THAT(plan.derived, ElementsAre(DerivedEvent{3, 0}));
  for (const EventSet& set : plan.sets) EXPECT_TRUE(Includes(set, 3)) << "it needs no counter of any set";
}

TEST(RotationPlanTest, NeverSplitsANumber) {
  std::vector<CounterInput> inputs = OneBit(0, 3);
  for (const CounterInput& input : NumberInputs(3, 3, 3, false)) inputs.push_back(input);
  const CounterPlan plan = Planned(ChipOf(4, {Unit("core", inputs, 3)}));
  EXPECT_EQ(plan.sets.size(), 2u);
  EXPECT_EQ(ListOf(plan.sets[0]), (std::vector<size_t>{3})) << "the largest first";
  EXPECT_EQ(ListOf(plan.sets[1]), (std::vector<size_t>{0, 1, 2}));
}

TEST(RotationPlanTest, FillsWhatIsLeftFree) {
  const PipelineConfig config = ChipOf(11, {Unit("core", OneBit(0, 8), 2), Unit("l2", OneBit(8, 3), 2)});
  const CounterPlan plan = Planned(config);
  ASSERT_EQ(plan.sets.size(), 4u);
  std::map<size_t, size_t> turns;
  for (const EventSet& set : plan.sets) {
    for (const size_t event : ListOf(set)) ++turns[event];
  }
  EXPECT_EQ(turns[0], 1u) << "of the unit that needs every set";
  EXPECT_EQ(turns[8] + turns[9] + turns[10], 8u) << "no counter is free";
  EXPECT_GE(turns[8], 2u);
  EXPECT_GE(turns[10], 2u);
  for (const EventSet& set : Planned(config, {.fill = false}).sets) EXPECT_LE(ListOf(set).size(), 4u);
}

TEST(RotationPlanTest, CountsTheSameSetsOnTheDevice) {
  PipelineConfig config = ChipOf(9, {Unit("core", OneBit(0, 6), 2)});
  config.ccus.push_back({.name = "device", .channel = kDeviceChannel, .ulcs = {Unit("dram", OneBit(6, 3), 1)}});
  const CounterPlan plan = Planned(config);
  ASSERT_EQ(plan.sets.size(), 3u);
  for (const EventSet& set : plan.sets) EXPECT_EQ(ListOf(set).size(), 3u) << "two of the slice, one of the device";
}

TEST(RotationPlanTest, TakesWishes) {
  const PipelineConfig config = ChipOf(8, {Unit("core", OneBit(0, 8), 3)});
  const CounterPlan plan = Planned(config, {.events = Events({1, 2, 3, 4, 5}), .always = Events({5})});
  EXPECT_EQ(plan.sets.size(), 2u);
  for (const EventSet& set : plan.sets) EXPECT_TRUE(Includes(set, 5));
  EXPECT_EQ(CountingOf(plan, 5), mailbox::Counting::kFixed);
  EXPECT_EQ(CountingOf(plan, 1), mailbox::Counting::kRotated);
  EXPECT_EQ(CountingOf(plan, 0), mailbox::Counting::kFixed) << "in no set";
}

TEST(RotationPlanTest, HasOneSetWhenNothingTurns) {
  const CounterPlan plan = Planned(ChipOf(3, {Unit("core", OneBit(0, 3), 3)}));
  EXPECT_EQ(plan.sets.size(), 1u);
  EXPECT_TRUE(ListOf(plan.sets[0]).empty()) << "units that are not switched count all the time";
}

TEST(RotationPlanTest, RefusesWhatCannotBe) {
  PipelineConfig config = ChipOf(9, {Unit("core", OneBit(0, 5), 2), Unit("l2", OneBit(5, 2), 2)});
  EXPECT_THAT(RefusedPlan(config, {.events = Events({6})}), HasSubstr("event 6 cannot take turns"));
  EXPECT_THAT(RefusedPlan(config, {.events = Events({60})}), HasSubstr("no event 60"));
  EXPECT_THAT(RefusedPlan(config, {.events = Events({1}), .always = Events({2})}),
              HasSubstr("event 2 is to be counted"));
  EXPECT_THAT(RefusedPlan(config, {.always = Events({0, 1, 2})}),
              HasSubstr("unit core that are always counted need 3"));
  EXPECT_THAT(RefusedPlan(config, {.always = Events({0, 1})}), HasSubstr("event 2 needs 1 counters of unit core"));
  const PipelineConfig many = ChipOf(130, {Unit("core", OneBit(0, 130), 2)});
  EXPECT_THAT(RefusedPlan(many, {}), HasSubstr("need 65 counter sets, of at most 64"));
}

// A chip whose relations hold: groups of states of which one is always on, and numbers of lanes.
struct Drawn {
  PipelineConfig config;
  std::vector<size_t> states;  // sizes of the groups, whose events come first
  std::vector<size_t> lanes;   // of the numbers, each after its lanes
};

Drawn Draw() {
  Drawn drawn;
  drawn.states = *rc::gen::resize(4, rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 7)));
  drawn.lanes = *rc::gen::resize(4, rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(1, 6)));
  std::vector<std::vector<CounterInput>> units(3);
  uint16_t next = 0;
  const auto add = [&](size_t counters) {
    const auto unit = *rc::gen::inRange<size_t>(0, units.size());
    for (size_t i = 0; i < counters; ++i) units[unit].push_back(Input(next, static_cast<uint8_t>(i)));
    return next++;
  };
  for (const size_t size : drawn.states) {
    Relation& relation = drawn.config.relations.emplace_back();
    for (size_t i = 0; i < size; ++i) relation.members.push_back(add(1));
  }
  for (const size_t size : drawn.lanes) {
    Relation relation{.kind = Relation::Kind::kSum};
    for (size_t i = 0; i < size; ++i) relation.members.push_back(add(1));
    relation.whole = add(3);
    drawn.config.relations.push_back(relation);
  }
  const auto others = *rc::gen::inRange<size_t>(1, 10);
  for (size_t i = 0; i < others; ++i) add(1);
  drawn.config.events = next;
  drawn.config.ccus = {{.name = "ccu0", .ulcs = {}}};
  for (size_t i = 0; i < units.size(); ++i) {
    const auto counters = *rc::gen::inRange<uint32_t>(3, 10);
    if (!units[i].empty()) drawn.config.ccus[0].ulcs.push_back(Unit(absl::StrCat("u", i), units[i], counters));
  }
  drawn.config.rotation = RotationSpec();
  return drawn;
}

// The gain of each event in a cycle.
std::vector<uint64_t> Gains(const Drawn& drawn, std::mt19937& random) {
  std::vector<uint64_t> gains;
  for (const size_t size : drawn.states) {
    const size_t on = random() % size;
    for (size_t i = 0; i < size; ++i) gains.push_back(i == on ? 1 : 0);
  }
  for (const size_t size : drawn.lanes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; ++i) sum += gains.emplace_back(random() % 2);
    gains.push_back(sum);
  }
  while (gains.size() < drawn.config.events) gains.push_back(random() % 2);
  return gains;
}

// Adds what follows from `counts` of the events that the units counted in a set's `cycles`.
void AddDerived(const CounterPlan& plan, const std::vector<Relation>& relations, size_t set, uint64_t cycles,
                std::map<size_t, uint64_t>& counts) {
  for (const DerivedEvent& derived : plan.derived) {
    if (!Includes(plan.sets[set], derived.event)) continue;
    const Relation& relation = relations[derived.relation];
    uint64_t sum = 0;
    for (const uint16_t member : relation.members) {
      if (member != derived.event) sum += counts.at(member);  // throws if it is not known yet
    }
    if (relation.kind == Relation::Kind::kSum && relation.whole == derived.event) {
      counts[derived.event] = sum;
    } else {
      const uint64_t whole =
          relation.kind == Relation::Kind::kSum ? counts.at(relation.whole) : relation.times * cycles;
      counts[derived.event] = whole - sum;
    }
  }
}

bool IsSwitchedEvent(const PipelineConfig& config, size_t event) { return CounterNeeds(config).Has(event); }

RC_GTEST_PROP(RotationPlanTest, DerivesTheTruth, ()) {
  const Drawn drawn = Draw();
  RC_PRE(Validate(drawn.config).ok());
  const auto plan = PlanCounters(drawn.config, {.fill = *rc::gen::arbitrary<bool>()});
  RC_ASSERT(plan.ok());
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  for (size_t set = 0; set < plan->sets.size(); ++set) {
    std::vector<uint64_t> truth(drawn.config.events);
    const uint64_t cycles = random() % 50;
    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
      const std::vector<uint64_t> gains = Gains(drawn, random);
      for (size_t event = 0; event < truth.size(); ++event) truth[event] += gains[event];
    }
    std::map<size_t, uint64_t> counts;
    for (size_t event = 0; event < truth.size(); ++event) {
      if (plan->Counts(set, event) || !IsSwitchedEvent(drawn.config, event)) counts[event] = truth[event];
    }
    AddDerived(*plan, drawn.config.relations, set, cycles, counts);
    for (const size_t event : ListOf(plan->sets[set])) RC_ASSERT(counts.at(event) == truth[event]);
  }
}

RC_GTEST_PROP(RotationPlanTest, CountsEveryEventWithinTheCounters, ()) {
  const Drawn drawn = Draw();
  RC_PRE(Validate(drawn.config).ok());
  const auto plan = PlanCounters(drawn.config, {.fill = *rc::gen::arbitrary<bool>()});
  RC_ASSERT(plan.ok());
  for (const SwitchedKind& kind : SwitchedKinds(drawn.config.ccus[0])) {
    for (size_t set = 0; set < plan->sets.size(); ++set) {
      const auto counters =
          std::ranges::count_if(kind.sources, [&](const EventShare& share) { return plan->Counts(set, share.event); });
      RC_ASSERT(static_cast<uint32_t>(counters) <= kind.counters);
    }
  }
  for (size_t event = 0; event < drawn.config.events; ++event) {
    const bool is_in_some = std::ranges::any_of(plan->sets, [&](const EventSet& set) { return Includes(set, event); });
    RC_ASSERT(is_in_some == IsSwitchedEvent(drawn.config, event));
  }
}

}  // namespace
}  // namespace sideband::mcu
