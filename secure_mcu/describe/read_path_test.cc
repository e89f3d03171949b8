// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/read_path.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(ReadPathTest, ByHand) {
  const ReadPathRegisters registers = CountReadPath(/*slices=*/2, /*events=*/17);
  EXPECT_EQ(registers.clients, 3u * (65 * 64 + 2 * 7 + 7 + 17 + 64 + 32 + 4));
  EXPECT_EQ(registers.managers, 5u * (17 * 65 + 5 + 3 * 2));
  const uint64_t requests = (17 + 17 + 1 + 2 + 1) + 2 * (17 + 17 + 1 + 1) + 2, answers = 2 * 2 * (64 + 6 + 3);
  EXPECT_EQ(registers.interconnect, 3u * (requests + answers) + 5 * 3);
  EXPECT_EQ(registers.total(), registers.clients + registers.managers + registers.interconnect);
}

// Each 64 events of a module have a manager; values are latched once for each event.
TEST(ReadPathTest, MoreEventsNeedMoreManagers) {
  const ReadPathRegisters one = CountReadPath(1, 64), two = CountReadPath(1, 65);
  EXPECT_EQ(two.clients, one.clients);
  EXPECT_EQ(two.managers - one.managers, 3u * (65 + 5 + 4));
  EXPECT_EQ(two.interconnect - one.interconnect, 3u * 2);
}

TEST(ReadPathTest, NothingToReadNeedsNothing) { EXPECT_EQ(CountReadPath(2, 0).total(), 0u); }

}  // namespace
}  // namespace sideband::mcu
