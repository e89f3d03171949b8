// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/benchmarks.h"

#include <gtest/gtest.h>

#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

TEST(BoardCostTest, ASnapshotWaitsForOneCommandAtMost) {
  const auto wait = MeasureSnapshotWait("deploy/examples/chip.yaml");
  ASSERT_TRUE(wait.ok()) << wait.status();
  EXPECT_GT(wait->commands, 1000u) << "the board was read";
  EXPECT_GT(wait->longest_wait, 0u) << "a command was under way";
  EXPECT_LE(wait->longest_wait, wait->longest_command);
}

TEST(BoardCostTest, ABoardOfTodayIsReadOnceASecond) {
  const auto pass = MeasureBoardPass("deploy/examples/chip-board.yaml");
  ASSERT_TRUE(pass.ok()) << pass.status();
  EXPECT_GT(pass->commands, 30u);
  EXPECT_LE(pass->bit_times, 30'000u) << "of a second of 100 kHz: the default share";
}

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

TEST(RotationCostTest, TheEndOfATurnIsAThirdOfASwitchAtMost) {
  const auto cost = MeasureRotationCost("deploy/examples", testing::TempDir());
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_LE(3 * cost->slot_cycles, cost->switch_cycles);
  EXPECT_EQ(cost->live.size(), 2u);
}

TEST(CurveTest, SlopeIsTheExponent) {
  EXPECT_NEAR(Slope({"", {{1, 7}, {10, 70}, {1000, 7000}}}), 1, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 4}, {3, 9}, {5, 25}}}), 2, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 5}, {9, 5}}}), 0, 1e-12);
}

TEST(CurveTest, TwoBlankLinesSeparateDataSets) {
  const Curve curves[] = {{"64 to 4096 signals", {{100, 0.125}, {5000, 5}}}, {"second", {{200, 0.5}}}};
  EXPECT_EQ(GnuplotData(curves), "\"64 to 4096 signals\"\n100 0.125\n5000 5\n\n\n\"second\"\n200 0.5\n");
}

}  // namespace
}  // namespace sideband::bench
