// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

using mailbox::EventScope;
using mailbox::SliceRate;
using Counts = std::vector<uint64_t>;

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

class RotationTest : public testing::Test {
 protected:
  mailbox::Catalog catalog_ = RotatingCatalog();
  mailbox::Snapshot data_ = RotatingData();
};

TEST_F(RotationTest, AnEstimateHasItsBoundsAndTimes) {
  const Rotation rotation(catalog_);
  const auto hits = rotation.Of(data_, 1, kHits);
  ASSERT_TRUE(hits);
  EXPECT_EQ(hits->value, 400u);
  EXPECT_EQ(hits->lower, 300u) << "what was counted";
  EXPECT_EQ(hits->upper, 550u);
  EXPECT_EQ(hits->deviation, 10u);
  EXPECT_EQ(hits->time.enabled, 1000u);
  EXPECT_EQ(hits->time.running, 750u);
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 0.75);
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kDerivedMisses), 0.25) << "as if it were counted";
  EXPECT_EQ(rotation.Shown(data_, 1, kHits), 400u);
}

TEST_F(RotationTest, TimesAreOfAllPlansTogether) {
  catalog_.plans.push_back({.number = 3, .sets = {{0b1110}}});
  data_.rotation[1].parts.push_back({.plan = 3, .enabled = {500}, .running = {500}});
  EXPECT_EQ(Rotation(catalog_).TimeOf(data_.rotation[1], kHits), (mailbox::RotationTime{1500, 1250}));
  EXPECT_EQ(Rotation(catalog_).CoverageOf(data_, 1, kMisses), 0.5) << "750 of 1500";
  catalog_.plans.pop_back();
  EXPECT_EQ(Rotation(catalog_).TimeOf(data_.rotation[1], kHits), (mailbox::RotationTime{1500, 750}))
      << "a plan that is forgotten";
}

TEST_F(RotationTest, TimesAreOfTheEventsOwnScope) {
  catalog_.plans.push_back({.number = 1, .of_device = true, .sets = {{0b1000}, {0}}});
  catalog_.plans[0].sets[1] = {0b0100};
  data_.rotation[0].parts.push_back({.plan = 1, .enabled = {9000}, .running = {3000, 6000}});
  const Rotation rotation(catalog_);
  for (const size_t event : {kHits, kMisses, kDerivedMisses}) {
    EXPECT_EQ(rotation.TimeOf(data_.rotation[0], event),
              mailbox::TimeOf(data_.rotation[0], catalog_.plans, event, std::nullopt));
  }
  EXPECT_EQ(rotation.TimeOf(data_.rotation[0], kHits), (mailbox::RotationTime{1000, 750}));
  EXPECT_EQ(rotation.TimeOf(data_.rotation[0], kDerivedMisses), (mailbox::RotationTime{9000, 3000}));
}

TEST_F(RotationTest, FixedEventsAreExact) {
  const Rotation rotation(catalog_);
  EXPECT_FALSE(rotation.IsRotated(kResident));
  EXPECT_FALSE(rotation.Of(data_, 1, kResident));
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kResident), 1);
  EXPECT_EQ(rotation.Shown(data_, 1, kResident), 1000u);
}

TEST_F(RotationTest, AnEventThatHadEveryTurnIsExact) {
  data_.rotation[1].parts[0].running = {1000, 0};
  data_.rotation[1].events[0] = {.estimate = 300, .upper = 300};
  const Rotation rotation(catalog_);
  EXPECT_FALSE(rotation.Of(data_, 1, kHits));
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 1);
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kMisses), 0) << "the other never had one: there is no number";
}

TEST_F(RotationTest, ARowWithoutNumbersHasNone) {
  data_.rotation[1] = {};
  const Rotation rotation(catalog_);
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 0);
  EXPECT_FALSE(rotation.Of(data_, 1, kHits));
  data_.rotation[1].parts = SomeNumbers().parts;
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 0) << "not all was counted, and nothing was estimated";
}

TEST_F(RotationTest, ASnapshotWithoutRotationIsExact) {
  data_.rotation.clear();
  const Rotation rotation(catalog_);
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 1);
  EXPECT_EQ(rotation.Shown(data_, 1, kHits), 300u);
  EXPECT_TRUE(rotation.ShownCounters(data_).empty());
}

TEST_F(RotationTest, TimesAreThoseOfAllPlansAndOfTheGate) {
  catalog_.gate_groups = {{.name = "g", .running_event = kResident}};
  catalog_.events[kHits].details.gate_group = 0;
  catalog_.plans.push_back({.number = 3, .sets = {{0b0110}}});
  data_.rotation[1].parts = {{.plan = 0, .enabled = {1000, 800}, .running = {750, 600, 250, 200}},
                             {.plan = 3, .enabled = {100, 10}, .running = {90, 5}}};
  const Rotation rotation(catalog_);
  EXPECT_EQ(rotation.TimeOf(data_.rotation[1], kHits).enabled, 810u);
  EXPECT_EQ(rotation.TimeOf(data_.rotation[1], kHits).running, 605u);
  EXPECT_EQ(rotation.TimeOf(data_.rotation[1], kMisses).enabled, 1100u);
  EXPECT_EQ(rotation.TimeOf(data_.rotation[1], kMisses).running, 340u);
}

// Slices and the device turn at the same time, each in their own cycles.
TEST_F(RotationTest, EventsOfTheDeviceHaveTheTimesOfItsOwnTurns) {
  catalog_.events[kMisses].scope = mailbox::EventScope::kDevice;
  catalog_.plans = {{.number = 0, .sets = {{0b0010}, {0b1000}}, .derived = {}},
                    {.number = 1, .of_device = true, .sets = {{0b0100}, {0}}, .derived = {}}};
  data_.rotation[0].parts = {{.plan = 0, .enabled = {4000}, .running = {3000, 1000}},
                             {.plan = 1, .enabled = {1000}, .running = {500, 500}}};
  const Rotation rotation(catalog_);
  EXPECT_EQ(rotation.Of(data_, 0, kMisses)->time, (mailbox::RotationTime{.enabled = 1000, .running = 500}));
  EXPECT_EQ(rotation.CoverageOf(data_, 0, kMisses), 0.5);
  EXPECT_EQ(rotation.CoverageOf(data_, 0, kHits), 0.75);
}

// No plan that the catalogue has counted hits.
TEST_F(RotationTest, WhatForgottenPlansCountedHasANumber) {
  catalog_.plans[0].sets[0] = {0};
  data_.rotation[1].parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {3000}, .running = {1000}});
  const Rotation rotation(catalog_);
  ASSERT_TRUE(rotation.Of(data_, 1, kHits));
  EXPECT_EQ(rotation.Of(data_, 1, kHits)->time, (mailbox::RotationTime{.enabled = 4000, .running = 1000}));
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 0.25);
  data_.rotation[1].events[0].estimate = 0;
  EXPECT_EQ(rotation.CoverageOf(data_, 1, kHits), 0) << "nothing says that it was counted";
}

TEST_F(RotationTest, AlternatingTurnsAreAModel) {
  EXPECT_EQ(Rotation(catalog_).Of(data_, 1, kHits)->method, EstimateMethod::kRandomTurns);
  catalog_.plans[0].settings.profile = mailbox::RotationProfile::kTwoSet;
  EXPECT_EQ(Rotation(catalog_).Of(data_, 1, kHits)->method, EstimateMethod::kModel);
}

TEST_F(RotationTest, AContradictionShowsNoLessThanWasCounted) {
  data_.rotation[1].events[0].estimate = 7;
  EXPECT_EQ(Rotation(catalog_).Shown(data_, 1, kHits), 300u);
  data_.rotation[1].parts[0].running = {2000, 0};
  EXPECT_TRUE(std::isnan(Rotation(catalog_).CoverageOf(data_, 1, kHits)));
}

TEST_F(RotationTest, ASnapshotShowsEstimatesAndFlagsThoseWhoSeeThem) {
  DeviceSnapshot snapshot = RotatingSnapshot(std::make_shared<Topology>(catalog_, 77), data_);
  EXPECT_EQ(std::vector(snapshot.Shown(2).begin(), snapshot.Shown(2).end()),
            (std::vector<uint64_t>{1000, 400, 100, 8}));
  snapshot.data.blocks[1].flags = mailbox::kFlagEstimated | mailbox::kFlagRotationInconsistent;
  EXPECT_EQ(snapshot.FlagsOf(1, {true, true, false, false}), snapshot.data.blocks[1].flags);
  EXPECT_EQ(snapshot.FlagsOf(1, {true, false, false, false}), mailbox::kFlagRotationInconsistent);
}

}  // namespace
}  // namespace sideband::daemon
