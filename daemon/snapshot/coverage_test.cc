// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sideband::daemon {
namespace {

using mailbox::EventScope;
using mailbox::SliceRate;

constexpr uint64_t kOne = uint64_t{1} << 32;

SliceRate Rate(double capacity) { return {.capacity_q32 = static_cast<uint64_t>(capacity * kOne)}; }
constexpr SliceRate kUnknownRate = {.capacity_q32 = 0, .gain_q32 = kOne};

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
  const Capacities capacities(CatalogOf(Event({Rate(4), kUnknownRate})));
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

constexpr size_t kGuest = 0, kHost = 1, kFree = 2, kResidentCycles = 3, kGuestRunning = 4, kHostRunning = 5;

mailbox::Catalog TwoGroups() {
  mailbox::Catalog catalog;
  catalog.events = {{.name = "sm_active_cycles", .details = {.gate_group = 0}},
                    {.name = "host_sm_active_cycles", .details = {.gate_group = 1}},
                    {.name = "free_cycles"},
                    {.name = "resident_cycles"},
                    {.name = "group_guest_running_cycles", .details = {.gate_group = 0}},
                    {.name = "group_host_running_cycles", .details = {.gate_group = 1}}};
  catalog.gate_groups = {{"guest", kGuestRunning}, {"host", kHostRunning}};
  return catalog;
}

using Counts = std::vector<uint64_t>;
using Rates = std::vector<double>;

TEST(CoverageTest, OfACountIsRunningOfResidentCycles) {
  const Coverage coverage(TwoGroups());
  const Counts counts = {7, 0, 9, 1000, 900, 0};
  EXPECT_DOUBLE_EQ(coverage.OfCount(kGuest, counts), 0.9);
  EXPECT_EQ(coverage.OfCount(kHost, counts), 0) << "it has not been counted in any cycle";
  EXPECT_EQ(coverage.OfCount(kFree, counts), 1);
  EXPECT_EQ(coverage.OfCount(kResidentCycles, counts), 1);
  EXPECT_EQ(coverage.OfCount(kHostRunning, counts), 1) << "0 running cycles are a number";
  EXPECT_EQ(coverage.OfCount(kGuest, Counts{0, 0, 0, 0, 0, 0}), 0) << "no VM was resident yet";
  EXPECT_EQ(coverage.OfCount(kGuest, Counts{7, 0, 9, 1000, 1000, 0}), 1);
}

TEST(CoverageTest, OfARateIsThatOfItsInterval) {
  const Coverage coverage(TwoGroups());
  EXPECT_DOUBLE_EQ(coverage.OfRate(kGuest, Rates{7, 0, 9, 1000, 250, 0}), 0.25);
  EXPECT_EQ(coverage.OfRate(kHost, Rates{7, 0, 9, 1000, 250, 0}), 0);
  EXPECT_EQ(coverage.OfRate(kFree, Rates{7, 0, 9, 1000, 250, 0}), 1);
  EXPECT_TRUE(std::isnan(coverage.OfRate(kGuest, Rates{0, 0, 0, 0, 0, 0}))) << "resident in no cycle";
  EXPECT_TRUE(std::isnan(coverage.OfRate(kGuest, Rates(6, std::nan(""))))) << "no interval";
}

TEST(CoverageTest, IsUnknownIfTheDeviceContradictsItself) {
  const Coverage coverage(TwoGroups());
  EXPECT_TRUE(std::isnan(coverage.OfCount(kGuest, Counts{7, 0, 9, 1000, 1001, 0})));
  EXPECT_TRUE(std::isnan(coverage.OfRate(kGuest, Rates{7, 0, 9, 1000, 1001, 0})));
  EXPECT_FALSE(coverage.IsWhole(Counts{7, 0, 9, 1000, 1001, 1000}));
}

TEST(CoverageTest, IsUnknownIfTheCyclesAreNotCounted) {
  for (const size_t event : {kResidentCycles, kGuestRunning}) {
    mailbox::Catalog catalog = TwoGroups();
    catalog.events[event].masked = true;
    const Coverage coverage(catalog);
    EXPECT_TRUE(coverage.IsGated(kGuest)) << event;
    EXPECT_EQ(coverage.CyclesOf(kGuest), std::nullopt) << event;
    EXPECT_TRUE(std::isnan(coverage.OfCount(kGuest, Counts{7, 0, 9, 0, 0, 0}))) << event;
    EXPECT_FALSE(coverage.IsWhole(Counts{7, 0, 9, 0, 0, 0})) << event;
  }
}

TEST(CoverageTest, ARowIsWholeIfEveryGateWasOpenInEveryResidentCycle) {
  const Coverage coverage(TwoGroups());
  EXPECT_TRUE(coverage.IsWhole(Counts{1, 2, 3, 1000, 1000, 1000}));
  EXPECT_FALSE(coverage.IsWhole(Counts{1, 2, 3, 1000, 1000, 999}));
  EXPECT_FALSE(coverage.IsWhole(Counts{1, 0, 3, 1000, 1000, 0}));
  EXPECT_TRUE(coverage.IsWhole(Counts{0, 0, 0, 0, 0, 0}));
}

TEST(CoverageTest, OnlyCountedEventsOfContextsHaveGates) {
  mailbox::Catalog catalog = TwoGroups();
  catalog.events[kHost].masked = true;
  catalog.events[kGuest].scope = mailbox::EventScope::kDevice;
  const Coverage coverage(catalog);
  EXPECT_FALSE(coverage.IsGated(kHost));
  EXPECT_FALSE(coverage.IsGated(kGuest));
  EXPECT_TRUE(coverage.IsWhole(Counts{1, 0, 3, 1000, 900, 0})) << "a group without events";
}

TEST(CoverageTest, WithoutGroupsEverythingIsWhole) {
  mailbox::Catalog catalog = TwoGroups();
  catalog.gate_groups.clear();
  const Coverage coverage(catalog);
  EXPECT_FALSE(coverage.has_gates());
  EXPECT_FALSE(coverage.IsGated(kGuest));
  EXPECT_EQ(coverage.OfCount(kGuest, Counts{7, 0, 9, 1000, 0, 0}), 1);
  EXPECT_TRUE(coverage.IsWhole(Counts{7, 0, 9, 1000, 0, 0}));
}

}  // namespace

}  // namespace sideband::daemon
