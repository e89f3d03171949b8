// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/board/driver_messages.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(DriverMessagesTest, OldestFirstAndOnce) {
  DriverMessages messages;
  messages.Append({.xid = 63, .text = "first"});
  messages.Append({.xid = 64, .text = "second"});
  EXPECT_EQ(messages.TakeOldest()->sequence, 1u);
  EXPECT_EQ(messages.TakeOldest()->text, "second");
  EXPECT_EQ(messages.TakeOldest(), std::nullopt);
}

TEST(DriverMessagesTest, FindsBySequenceAndTime) {
  DriverMessages messages;
  for (const uint32_t time : {10u, 20u, 30u}) messages.Append({.time_s = time});
  EXPECT_EQ(messages.FindFrom(0)->sequence, 1u);
  EXPECT_EQ(messages.FindFrom(3)->time_s, 30u);
  EXPECT_EQ(messages.FindFrom(4), std::nullopt);
  EXPECT_EQ(messages.FindSince(11)->sequence, 2u);
  EXPECT_EQ(messages.FindSince(31), std::nullopt);
}

TEST(DriverMessagesTest, AFullQueueSaysThatLaterOnesAreLost) {
  DriverMessages messages;
  for (size_t i = 0; i < DriverMessages::kKept + 3; ++i) messages.Append({});
  for (size_t i = 1; i < DriverMessages::kKept; ++i) EXPECT_FALSE(messages.TakeOldest()->later_lost) << i;
  EXPECT_TRUE(messages.TakeOldest()->later_lost);
  messages.Append({});
  EXPECT_EQ(messages.TakeOldest()->sequence, DriverMessages::kKept + 4) << "the gap is seen by the numbers";
}

}  // namespace
}  // namespace sideband::mcu
