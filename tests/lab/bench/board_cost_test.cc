// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/board_cost.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::bench
