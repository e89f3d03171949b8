// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/turn_rows.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(TurnRowsTest, TakesTheLowestThatAreFreeTogether) {
  TurnRows rows;
  EXPECT_EQ(rows.Take(8), 0u);
  EXPECT_EQ(rows.Take(4), 8u);
  EXPECT_EQ(rows.Take(4), 12u);
  rows.Give(8, 4);
  EXPECT_EQ(rows.Take(5), 16u);
  EXPECT_EQ(rows.Take(3), 8u);
  EXPECT_EQ(rows.free(), 64u - 8 - 3 - 4 - 5);
}

TEST(TurnRowsTest, HasAnEnd) {
  TurnRows rows;
  EXPECT_EQ(rows.Take(64), 0u);
  EXPECT_EQ(rows.Take(1), std::nullopt);
  rows.Give(0, 64);
  EXPECT_EQ(rows.Take(65), std::nullopt);
  EXPECT_EQ(rows.Take(64), 0u);
}

}  // namespace
}  // namespace sideband::mcu
