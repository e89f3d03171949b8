// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/channel_buffer.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

Record Numbered(uint32_t number) { return {.trigger_id = number}; }

TEST(ChannelBufferTest, KeepsTheOrderAcrossItsEnd) {
  ChannelBuffer buffer(3);
  uint32_t pushed = 0, popped = 0;
  for (int round = 0; round < 10; ++round) {
    while (!buffer.full()) buffer.Push(Numbered(pushed++));
    EXPECT_EQ(buffer.size(), 3u);
    EXPECT_EQ(buffer.Pop().trigger_id, popped++);
    EXPECT_EQ(buffer.Pop().trigger_id, popped++);
  }
  EXPECT_EQ(buffer.high_water(), 3u);
}

TEST(ChannelBufferTest, DepthOneHoldsOne) {
  ChannelBuffer buffer(1);
  EXPECT_TRUE(buffer.empty());
  buffer.Push(Numbered(1));
  EXPECT_TRUE(buffer.full());
  EXPECT_EQ(buffer.Pop().trigger_id, 1u);
  EXPECT_TRUE(buffer.empty());
}

}  // namespace
}  // namespace sideband::mcu
