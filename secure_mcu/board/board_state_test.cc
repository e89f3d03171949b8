// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/board/board_state.h"

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

constexpr PowerLimits kBoard = {.least_mw = 100'000, .most_mw = 400'000, .default_mw = 350'000};

TEST(PowerLimitsTest, TheModuleHasTheBoardsLimitsAndItsOverhead) {
  const auto limits = ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 25'000.5});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->least_mw, 125'001u);
  EXPECT_EQ(limits->most_mw, 425'001u);
  EXPECT_EQ(limits->default_mw, 375'001u);
}

TEST(PowerLimitsTest, AModuleNeedsBoth) {
  EXPECT_FALSE(ModuleLimits({}));
  EXPECT_FALSE(ModuleLimits({.power_limit = kBoard}));
  EXPECT_FALSE(ModuleLimits({.module_overhead_mw = 0.0}));
  EXPECT_TRUE(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 0.0}));
}

TEST(PowerLimitsTest, AnExtremeOverheadSaturates) {
  EXPECT_EQ(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = 1e12})->least_mw, 0xFFFF'FFFEu);
  EXPECT_EQ(ModuleLimits({.power_limit = kBoard, .module_overhead_mw = -1e12})->most_mw, 0u);
}

TEST(PowerLimitsTest, WhatWasAskedForIsInForce) {
  EXPECT_EQ(InForceMw(kBoard, {}), 350'000u);
  EXPECT_EQ(InForceMw(kBoard, {.asked_mw = 120'000}), 120'000u);
}

}  // namespace

}  // namespace sideband::mcu
