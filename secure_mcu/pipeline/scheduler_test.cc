// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/scheduler.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

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
