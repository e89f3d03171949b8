// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation.h"

#include <gtest/gtest.h>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation_layout.h"

namespace sideband::mailbox {
namespace {

// Plans 0 with two sets and 3 with one, of 70 events in two words.
Catalog TwoPlans() {
  Catalog catalog;
  catalog.events.resize(70);
  for (const size_t event : {2, 5, 69}) catalog.events[event].details.counting = Counting::kRotated;
  catalog.events[6].details.counting = Counting::kDerived;
  catalog.events[5].details.gate_group = 1;
  RotationPlan own, other{.number = 3};
  own.sets = {EmptySet(70), EmptySet(70)};
  other.sets = {EmptySet(70)};
  Insert(2, own.sets[0]), Insert(5, own.sets[1]), Insert(69, own.sets[0]), Insert(69, own.sets[1]);
  Insert(2, other.sets[0]);
  catalog.plans = {own, other};
  return catalog;
}

// Each with all of the block's cycles, and those with the gates of groups 0 and 1 open.
BlockRotation Numbers() {
  return {.parts = {{.plan = 0, .enabled = {100, 80, 60}, .running = {40, 30, 20, 50, 40, 30}},
                    {.plan = 2, .enabled = {7}, .running = {5, 2}},
                    {.plan = 3, .enabled = {1000}, .running = {900}}},
          .events = {}};
}

TEST(RotationTest, TimesAddUpOverPartsAndSets) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 2, {}), (RotationTime{1107, 940}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 69, {}), (RotationTime{1107, 90})) << "of both sets";
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 6, {}), (RotationTime{1107, 0})) << "in no set";
  EXPECT_EQ(TimeOf({}, catalog.plans, 2, {}), RotationTime{});
}

// The device's block has parts of both scopes.
TEST(RotationTest, EachEventHasTheTimesOfItsScope) {
  const std::vector<RotationPlan> plans = {{.number = 0, .sets = {{0b01}, {0b10}}},
                                           {.number = 1, .of_device = true, .sets = {{0b100}, {0b1000}}}};
  const BlockRotation device{.parts = {{.plan = 0, .enabled = {100}, .running = {60, 40}},
                                       {.plan = 1, .enabled = {1000}, .running = {700, 300}},
                                       {.plan = kForgottenPlan, .enabled = {50}, .running = {}}},
                             .events = {}};
  EXPECT_EQ(TimeOf(device, plans, 0, std::nullopt), (RotationTime{.enabled = 150, .running = 60}));
  EXPECT_EQ(TimeOf(device, plans, 3, std::nullopt), (RotationTime{.enabled = 1000, .running = 300}));
}

TEST(RotationTest, GatedTimesAreThoseOfPartsWithTheGroup) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 1), (RotationTime{60, 30}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 0), (RotationTime{80, 40}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 2), RotationTime{});
}

TEST(RotationTest, PassesCountEverySetOnce) {
  EXPECT_EQ(Passes(5, 0), 1u) << "all in one";
  EXPECT_EQ(Passes(5, 5), 1u);
  EXPECT_EQ(Passes(5, 1), 5u);
  EXPECT_EQ(Passes(5, 2), 3u) << "1 and 2 · 2";
  EXPECT_EQ(Passes(6, 2), 4u) << "1, 2, 2 and 1";
}

TEST(RotationTest, ALayoutHasTheSetsOfEachEvent) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(RotatedEvents(catalog), (std::vector<uint16_t>{2, 5, 6, 69}));
  const RotationLayout layout = LayoutOf(catalog);
  ASSERT_EQ(layout.events.size(), 4u);
  EXPECT_EQ(layout.events[1], (RotationLayout::Event{.event = 5, .gate_group = 1}));
  EXPECT_EQ(layout.plans, (std::vector<RotationLayout::Plan>{{.number = 0, .sets_of = {0b01, 0b10, 0, 0b11}},
                                                             {.number = 3, .sets_of = {0b1, 0, 0, 0}}}));
}

}  // namespace
}  // namespace sideband::mailbox
