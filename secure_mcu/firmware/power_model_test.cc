// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/power_model.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

constexpr uint64_t kBillion = 1'000'000'000;

PowerModel::Config Config() {
  return {.idle_mw = 10'000, .event_pj = {2000, 0}, .ambient_c = 20, .c_per_watt = 0.5, .time_constant_s = 1};
}

TEST(PowerModelTest, IdlesBeforeAnythingIsCounted) {
  const PowerModel model(Config());
  EXPECT_DOUBLE_EQ(model.power_mw(), 10'000);
  EXPECT_DOUBLE_EQ(model.temperature_c(), 25);
}

TEST(PowerModelTest, EveryCountCostsItsEnergy) {
  PowerModel model(Config());
  model.Update(std::vector<uint64_t>{kBillion, 5 * kBillion}, kBillion);  // 10^9 x 2000 pJ in a second: 2 W
  EXPECT_DOUBLE_EQ(model.power_mw(), 12'000);
  model.Update(std::vector<uint64_t>{kBillion, 9 * kBillion}, 2 * kBillion);
  EXPECT_DOUBLE_EQ(model.power_mw(), 10'000) << "nothing but free events since";
}

TEST(PowerModelTest, EnergyIsOfAllTime) {
  const PowerModel model(Config());
  EXPECT_DOUBLE_EQ(model.EnergyMj(std::vector<uint64_t>{0, 0}, 0), 0);
  EXPECT_DOUBLE_EQ(model.EnergyMj(std::vector<uint64_t>{3 * kBillion, kBillion}, 2 * kBillion), 20'000 + 6'000)
      << "idle, and 3 x 10^9 x 2000 pJ";
}

TEST(PowerModelTest, TemperatureFollowsSlowly) {
  PowerModel model(Config());
  uint64_t count = 0;
  double last = model.temperature_c();
  for (uint64_t second = 1; second <= 20; ++second) {
    count += 10 * kBillion;  // 20 W above idle: settles at 20 + 30 x 0.5
    model.Update(std::vector<uint64_t>{count}, second * kBillion);
    EXPECT_GT(model.temperature_c(), last);
    EXPECT_LT(model.temperature_c(), 35);
    last = model.temperature_c();
  }
  EXPECT_NEAR(last, 35, 0.01);
}

TEST(PowerModelTest, CallsWithinAWindowChangeNothing) {
  PowerModel model(Config());
  model.Update(std::vector<uint64_t>{1'000'000}, 1000);
  EXPECT_DOUBLE_EQ(model.power_mw(), 10'000);
}

}  // namespace
}  // namespace sideband::mcu
