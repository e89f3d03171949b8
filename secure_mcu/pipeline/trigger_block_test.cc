// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/trigger_block.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::mcu {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

TEST(TriggerGridTest, FallsOnTheMultiplesOfItsPeriod) {
  TriggerGrid grid(1000);
  EXPECT_EQ(grid.next(), 1000u);
  grid.Pass(999);
  EXPECT_EQ(grid.next(), 1000u) << "not due yet";
  grid.Pass(1000);
  EXPECT_EQ(grid.next(), 2000u);
  grid.Pass(4500);
  EXPECT_EQ(grid.next(), 5000u);
  EXPECT_EQ(TriggerGrid(1000, 2500).next(), 3000u);
  EXPECT_EQ(TriggerGrid(0, 2500).next(), kNever);
}

TEST(TriggerBlockTest, AGridOfTheFirmwareIsBesideThePeriodicOne) {
  TriggerBlock triggers(1000);
  EXPECT_EQ(triggers.FireDue(999), std::nullopt);
  triggers.SetGrid(400, 999);
  EXPECT_EQ(triggers.next_due(), 1000u);
  EXPECT_EQ(triggers.FireDue(1000), 1u);
  EXPECT_EQ(triggers.next_due(), 1200u);
  EXPECT_EQ(triggers.FireDue(1200), 2u);
  EXPECT_EQ(triggers.FireDue(2000), 4u) << "both grids, with a number each";
  EXPECT_EQ(triggers.fired(TriggerKind::kPeriodic), 2u);
  EXPECT_EQ(triggers.fired(TriggerKind::kGrid), 2u);
  triggers.SetGrid(0, 2000);
  EXPECT_EQ(triggers.next_due(), 3000u);
}

TEST(TriggerBlockTest, WithoutGridsNothingFallsDue) {
  TriggerBlock triggers(0);
  EXPECT_EQ(triggers.next_due(), kNever);
  EXPECT_EQ(triggers.FireDue(1'000'000), std::nullopt);
}

TEST(TriggerBlockTest, EveryKindIsCountedAndAllButThresholdsAreNumbered) {
  TriggerBlock triggers(0);
  EXPECT_EQ(triggers.Fire(TriggerKind::kPeriodic), 1u);
  EXPECT_EQ(triggers.Fire(TriggerKind::kRegisterWrite), 2u);
  EXPECT_EQ(triggers.Fire(TriggerKind::kThreshold), 2u) << "bears the newest number";
  EXPECT_EQ(triggers.Fire(TriggerKind::kExternal), 3u);
  EXPECT_EQ(triggers.last_id(), 3u);
  for (const TriggerKind kind :
       {TriggerKind::kPeriodic, TriggerKind::kRegisterWrite, TriggerKind::kExternal, TriggerKind::kThreshold}) {
    EXPECT_EQ(triggers.fired(kind), 1u);
  }
}

TEST(TriggerBlockTest, EveryUnitMustAcknowledge) {
  TriggerBlock triggers(0);
  triggers.RequestFlush(1);
  triggers.RequestFlush(2);
  triggers.Acknowledge(1);
  EXPECT_FALSE(triggers.AllAcknowledged());
  triggers.Acknowledge(1);
  EXPECT_FALSE(triggers.AllAcknowledged()) << "one unit cannot answer for another";
  triggers.Acknowledge(2);
  EXPECT_TRUE(triggers.AllAcknowledged());
}

constexpr ReferencePacket kSent{.number = 5, .cause = TriggerCause::kGrid, .cycle = 501'200, .time_ns = 501'200};

TEST(SchedulerTest, APacketHasWhatWasSent) {
  const ReferencePacket packet = Scheduler({.id = 7}).Make(kSent);
  EXPECT_EQ(packet, (ReferencePacket{.number = 5,
                                     .cause = TriggerCause::kGrid,
                                     .cycle = 501'200,
                                     .time_ns = 501'200,
                                     .scheduler = 7,
                                     .made = 501'200}));
}

TEST(SchedulerTest, ABookmarkStaysUntilAnotherReplacesIt) {
  Scheduler scheduler({});
  EXPECT_EQ(scheduler.Make(kSent).bookmark, std::nullopt);
  scheduler.SetBookmark(1);
  EXPECT_EQ(scheduler.Make(kSent).bookmark, 1u);
  EXPECT_EQ(scheduler.Make(kSent).bookmark, 1u);
  scheduler.SetBookmark(2);
  EXPECT_EQ(scheduler.Make(kSent).bookmark, 2u);
  scheduler.SetBookmark(std::nullopt);
  EXPECT_EQ(scheduler.Make(kSent).bookmark, std::nullopt);
}

TEST(SchedulerTest, TheDelayIsOfThePacketNotOfTheTime) {
  const ReferencePacket packet = Scheduler({.reference_delay = 40}).Make(kSent);
  EXPECT_EQ(packet.cycle, 501'200u);
  EXPECT_EQ(packet.made, 501'240u);
}

TEST(SchedulerTest, InAnotherDomainItTellsItsOwnClock) {
  const auto clock = std::make_shared<const sim::DomainClock>(*sim::DomainClock::Create({.hz = 500'000'000}));
  EXPECT_EQ(Scheduler({.clock = clock}).Make(kSent).local_clock, 250'600u);
}

TEST(SchedulerTest, ASelectionNarrowsCommandsAndTheGridAlone) {
  Scheduler scheduler({});
  EXPECT_TRUE(scheduler.IsSelected(TriggerCause::kOnce, 63));
  scheduler.Select(0b10);
  for (const TriggerCause cause : {TriggerCause::kOnce, TriggerCause::kGrid}) {
    EXPECT_FALSE(scheduler.IsSelected(cause, 0));
    EXPECT_TRUE(scheduler.IsSelected(cause, 1));
  }
  EXPECT_TRUE(scheduler.IsSelected(TriggerCause::kLatch, 0));
}

}  // namespace

}  // namespace sideband::mcu
