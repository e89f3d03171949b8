// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/rotation_cost.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

TEST(RotationCostTest, TheEndOfATurnIsAThirdOfASwitchAtMost) {
  const auto cost = MeasureRotationCost("deploy/examples", testing::TempDir());
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_LE(3 * cost->slot_cycles, cost->switch_cycles);
  EXPECT_EQ(cost->live.size(), 2u);
}

}  // namespace
}  // namespace sideband::bench
