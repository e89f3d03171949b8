// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/slot_relations.h"

#include <gtest/gtest.h>

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
  // Of a part of the members, only that they are not too many.
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

}  // namespace
}  // namespace sideband::mcu
