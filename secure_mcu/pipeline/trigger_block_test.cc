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

}  // namespace
}  // namespace sideband::mcu
