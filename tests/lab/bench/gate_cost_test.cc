// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/gate_cost.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

// The limits of docs/experiments/virtual_counters.md.
TEST(GateCostTest, IsWithinItsLimits) {
  const auto cost = MeasureGateCost("deploy/examples/chip-large.yaml");
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_EQ(cost->gate_bits, 132u);
  EXPECT_GE(cost->flat_bits, 16'700 * cost->gate_bits);
  EXPECT_GE(cost->pmu_bits, 21 * cost->gate_bits);
  EXPECT_LE(cost->registers_ratio(), 0.005);
  EXPECT_LE(cost->transition_cycles, 4);
  EXPECT_GE(cost->cycles_ratio(), 20);
}

}  // namespace
}  // namespace sideband::bench
