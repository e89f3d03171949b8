// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/command_cost.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

// smbpbi-facts.md, 6.2, at 100 kHz: 10 µs a bit.
TEST(CommandCostTest, AsInTheFacts) {
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = false}), 215u);
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = true}), 242u);
  EXPECT_EQ(CommandBits(true, {.data = true}, {.has_pec = false}), 280u);
  EXPECT_EQ(CommandBits(true, {.data = true}, {.has_pec = true}), 316u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, {.has_pec = false}), 290u);
  EXPECT_EQ(CommandBits(false, {.data = true, .extended_data = true}, {.has_pec = true}), 326u);
  EXPECT_EQ(CommandBits(false, {}, {.has_pec = false}), 140u);
  EXPECT_EQ(CommandBits(false, {.data = true}, {.has_pec = false, .is_shared = true}), 215u + 75);
  EXPECT_EQ(CommandBits(false, {}, {.has_pec = false, .is_shared = true}), 140u);
}

}  // namespace
}  // namespace sideband::daemon
