// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/board/power_limits.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

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
