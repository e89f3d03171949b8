// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/trigger_block.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::mcu {
namespace {

TEST(TriggerBlockTest, PeriodicTriggersKeepTheirGrid) {
  TriggerBlock triggers(1000);
  EXPECT_EQ(triggers.next_periodic(), 1000u);
  triggers.PassPeriodic(999);
  EXPECT_EQ(triggers.next_periodic(), 1000u) << "not due yet";
  triggers.PassPeriodic(1000);
  EXPECT_EQ(triggers.next_periodic(), 2000u);
  triggers.PassPeriodic(4500);
  EXPECT_EQ(triggers.next_periodic(), 5000u);
}

TEST(TriggerBlockTest, PeriodZeroIsNever) {
  TriggerBlock triggers(0);
  EXPECT_EQ(triggers.next_periodic(), std::numeric_limits<uint64_t>::max());
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
