// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/capacities.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using mailbox::EventScope;
using mailbox::SliceRate;

constexpr uint64_t kOne = uint64_t{1} << 32;

SliceRate Rate(double capacity) { return {.capacity_q32 = static_cast<uint64_t>(capacity * kOne)}; }
constexpr SliceRate kUnknown = {.capacity_q32 = 0, .gain_q32 = kOne};

mailbox::EventInfo Event(std::vector<SliceRate> slices, EventScope scope = EventScope::kContext) {
  return {.name = "e", .scope = scope, .details = {.slices = std::move(slices)}};
}

mailbox::Catalog CatalogOf(mailbox::EventInfo event) {
  return {.events = {std::move(event)}, .slices = {{3, "a"}, {7, "b"}}};
}

TEST(CapacitiesTest, OneRateHoldsForEachSlice) {
  const Capacities capacities(CatalogOf(Event({Rate(4)})));
  EXPECT_TRUE(capacities.IsKnown(0));
  EXPECT_EQ(capacities.OfSlice(0, capacities.PlaceOf(7)), 4);
  EXPECT_EQ(capacities.OfDevice(0), 8);
  EXPECT_EQ(capacities.OfEachSlice(0), 4);
}

TEST(CapacitiesTest, SlicesMayDiffer) {
  const Capacities capacities(CatalogOf(Event({Rate(4), Rate(0.5)})));
  EXPECT_EQ(capacities.OfSlice(0, capacities.PlaceOf(3)), 4);
  EXPECT_EQ(capacities.OfSlice(0, capacities.PlaceOf(7)), 0.5);
  EXPECT_EQ(capacities.OfDevice(0), 4.5);
  EXPECT_EQ(capacities.OfEachSlice(0), 0) << "not the same";
}

TEST(CapacitiesTest, ADeviceWithAnUnknownSliceHasNone) {
  const Capacities capacities(CatalogOf(Event({Rate(4), kUnknown})));
  EXPECT_TRUE(capacities.IsKnown(0));
  EXPECT_EQ(capacities.OfSlice(0, capacities.PlaceOf(3)), 4);
  EXPECT_EQ(capacities.OfDevice(0), 0);
}

TEST(CapacitiesTest, ASliceThatDoesNotCountTheEventAddsNothing) {
  const Capacities capacities(CatalogOf(Event({Rate(4), Rate(0)})));
  EXPECT_EQ(capacities.OfDevice(0), 4);
  EXPECT_EQ(capacities.OfSlice(0, capacities.PlaceOf(7)), 0);
}

TEST(CapacitiesTest, AnEventOfTheDeviceHasItsOwn) {
  const Capacities capacities(CatalogOf(Event({Rate(4)}, EventScope::kDevice)));
  EXPECT_TRUE(capacities.IsKnown(0));
  EXPECT_EQ(capacities.OfDevice(0), 4);
  EXPECT_EQ(capacities.OfSlice(0, 0), 0);
  EXPECT_EQ(capacities.OfEachSlice(0), 0);
}

TEST(CapacitiesTest, MaskedAndUndescribedEventsHaveNone) {
  mailbox::EventInfo masked = Event({Rate(4)});
  masked.masked = true;
  EXPECT_FALSE(Capacities(CatalogOf(masked)).IsKnown(0));
  EXPECT_FALSE(Capacities(CatalogOf(Event({}))).IsKnown(0));
  EXPECT_FALSE(Capacities(CatalogOf(Event({Rate(0), Rate(0)}))).IsKnown(0));
}

TEST(CapacitiesTest, AnUnknownSliceIsNowhere) {
  const Capacities capacities(CatalogOf(Event({Rate(4)})));
  EXPECT_EQ(capacities.PlaceOf(1), Capacities::kNowhere);
  EXPECT_EQ(capacities.OfSlice(0, Capacities::kNowhere), 0);
}

TEST(CapacitiesTest, ResidentCyclesAreFoundByName) {
  mailbox::Catalog catalog = CatalogOf(Event({Rate(4)}));
  EXPECT_EQ(Capacities(catalog).resident_cycles(), std::nullopt);
  catalog.events.push_back({.name = "resident_cycles"});
  EXPECT_EQ(Capacities(catalog).resident_cycles(), 1u);
  catalog.events[1].masked = true;
  EXPECT_EQ(Capacities(catalog).resident_cycles(), std::nullopt);
}

}  // namespace
}  // namespace sideband::daemon
