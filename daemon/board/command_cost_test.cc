// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/command_cost.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

// smbpbi-facts.md, 6.2, at 100 kHz: 10 µs a bit.
TEST(CommandCostTest, AsInTheFacts) {
  EXPECT_EQ(CommandBits(false, {.data = true}, false), 215u);
  EXPECT_EQ(CommandBits(false, {.data = true}, true), 242u);
  EXPECT_EQ(CommandBits(true, {.data = true}, false), 280u);
  EXPECT_EQ(CommandBits(true, {.data = true}, true), 316u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, false), 290u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, true), 326u);
  EXPECT_EQ(CommandBits(false, {}, false), 140u);
}

}  // namespace
}  // namespace sideband::daemon
