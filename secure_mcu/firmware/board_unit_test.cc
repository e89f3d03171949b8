// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_unit.h"

#include <gtest/gtest.h>

#include <vector>

#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MaskOf;
using mailbox::ThrottleReason;

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

constexpr uint64_t kPowerWindowNs = 100'000'000;
constexpr uint32_t kThermal = MaskOf(ThrottleReason::kSoftwareThermal);
constexpr uint32_t kPowerCap = MaskOf(ThrottleReason::kSoftwarePowerCap);
constexpr uint32_t kHardware = MaskOf(ThrottleReason::kHardwareSlowdown) | MaskOf(ThrottleReason::kHardwareThermal);

// A GPU whose busy workload counts an event in each cycle of its clock: 1 W per 100 MHz, above 10 W of idling.
class BoardPhysicsTest : public testing::Test {
 protected:
  static constexpr uint64_t kTop = 1'000'000'000;

  void Make(const BoardSpec& spec) {
    gpu_.clock = WorkloadClock{.levels = {250'000'000, 500'000'000, kTop}, .hz = kTop};
    board_.emplace(gpu_,
                   PowerModel({.idle_mw = 10'000,
                               .event_pj = {10'000},
                               .ambient_c = 20,
                               .c_per_watt = 1,
                               .time_constant_s = 0.5,
                               .window_ns = kPowerWindowNs}),
                   spec);
  }
  // A window of work, or of rest.
  void Pass(bool is_busy = true) {
    if (is_busy) gpu_.Count(1, 0, "sm_active_cycles", gpu_.clock->hz / 10);
    gpu_.time_ns += kPowerWindowNs;
    board_->physics.Tick();
  }
  uint32_t reasons() const { return board_->state.throttle_reasons; }
  double temperature_c() { return board_->physics.Rails(Complement::kExclude)->total.temperature_c(); }
  double power_mw() { return board_->physics.Rails(Complement::kExclude)->total.power_mw(); }

  FakeGpu gpu_;
  std::optional<BoardUnit> board_;
};

TEST_F(BoardPhysicsTest, ACoolBoardIsNotThrottled) {
  Make({.thermal = ThermalLimits{}});
  for (int i = 0; i < 100; ++i) {
    Pass();
    ASSERT_EQ(reasons(), 0u);
  }
  EXPECT_EQ(gpu_.clock->hz, kTop);
  EXPECT_NEAR(temperature_c(), 40, 0.1);
}

// The law of the emulated board: throttled if and only if the temperature is at its threshold or above.
TEST_F(BoardPhysicsTest, ThrottledWhileOverTheThreshold) {
  Make({.thermal = ThermalLimits{.software_slowdown_c = 35, .slowdown_c = 90}});
  int throttled = 0;
  for (int i = 0; i < 300; ++i) {
    Pass();
    ASSERT_EQ((reasons() & kThermal) != 0, temperature_c() >= 35) << i;
    throttled += reasons() != 0 ? 1 : 0;
    ASSERT_LT(temperature_c(), 38) << "a lower clock cools it";
  }
  EXPECT_GT(throttled, 50);
  EXPECT_LT(throttled, 250);
}

TEST_F(BoardPhysicsTest, TheClockFallsByStepsAndRisesAgain) {
  Make({.thermal = ThermalLimits{.software_slowdown_c = 25, .slowdown_c = 90}});
  std::vector<uint64_t> clocks;
  while (gpu_.clock->hz > 250'000'000) {
    Pass();
    clocks.push_back(gpu_.clock->hz);
    ASSERT_LT(clocks.size(), 100u);
  }
  ASSERT_GE(clocks.size(), 2u);
  EXPECT_EQ(clocks[clocks.size() - 2], 500'000'000u);
  for (int i = 0; i < 100; ++i) Pass(/*is_busy=*/false);
  // Idling alone heats it to 30 degrees.
  EXPECT_EQ(gpu_.clock->hz, 250'000'000u);
}

TEST_F(BoardPhysicsTest, TheHardwareTakesTheLowestLevelAtOnce) {
  Make({.thermal = ThermalLimits{.software_slowdown_c = 80, .slowdown_c = 36}});
  while (temperature_c() < 36) {
    EXPECT_EQ(gpu_.clock->hz, kTop);
    Pass();
  }
  EXPECT_EQ(reasons(), kHardware);
  EXPECT_EQ(gpu_.clock->hz, 250'000'000u);
}

TEST_F(BoardPhysicsTest, HotMemorySlowsItDown) {
  Make({.thermal = ThermalLimits{.memory_slowdown_c = 60},
        .memory = MemorySensorSpec{.events = {"sm_active_cycles"}, .c_per_watt = 10}});
  for (int i = 0; i < 20 && reasons() == 0; ++i) Pass();
  EXPECT_EQ(reasons(), kHardware);
}

TEST_F(BoardPhysicsTest, PowerStaysBelowItsLimit) {
  Make({.power_limit = PowerLimits{.least_mw = 12'000, .most_mw = 40'000, .default_mw = 16'000}});
  for (int i = 0; i < 20; ++i) Pass();
  EXPECT_EQ(gpu_.clock->hz, 500'000'000u);
  EXPECT_NEAR(power_mw(), 15'000, 1);
  EXPECT_EQ(reasons(), kPowerCap) << "the next level up would take too much";
  board_->state.power_limit.asked_mw = 13'000;
  for (int i = 0; i < 5; ++i) Pass();
  EXPECT_EQ(gpu_.clock->hz, 250'000'000u);
  board_->state.power_limit.asked_mw = 40'000;
  for (int i = 0; i < 5; ++i) Pass();
  EXPECT_EQ(gpu_.clock->hz, kTop);
  EXPECT_EQ(reasons(), 0u);
}

TEST_F(BoardPhysicsTest, TheModulesLimitHoldsForTheBoard) {
  Make({.power_limit = PowerLimits{.least_mw = 12'000, .most_mw = 40'000, .default_mw = 40'000},
        .module_overhead_mw = 5000});
  for (int i = 0; i < 5; ++i) Pass();
  EXPECT_EQ(gpu_.clock->hz, kTop);
  board_->state.module_limit.asked_mw = 21'000;
  for (int i = 0; i < 5; ++i) Pass();
  EXPECT_EQ(gpu_.clock->hz, 500'000'000u) << "16 W for the board";
}

TEST_F(BoardPhysicsTest, ViolationsAreTheTimeOfReasons) {
  Make({.power_limit = PowerLimits{.default_mw = 16'000}});
  Pass();
  EXPECT_EQ(reasons(), kPowerCap);
  for (int i = 0; i < 10; ++i) Pass();
  const auto& violations = board_->state.violation_ns;
  EXPECT_EQ(violations[static_cast<size_t>(mailbox::Violation::kSoftwarePower)], 10 * kPowerWindowNs);
  EXPECT_EQ(violations[static_cast<size_t>(mailbox::Violation::kSoftware)], 10 * kPowerWindowNs);
  EXPECT_EQ(violations[static_cast<size_t>(mailbox::Violation::kSoftwareThermal)], 0u);
  EXPECT_EQ(violations[static_cast<size_t>(mailbox::Violation::kHardware)], 0u);
}

TEST_F(BoardPhysicsTest, ConfidentialWorkHeatsTheBoardAndIsNotShown) {
  Make({.thermal = ThermalLimits{.software_slowdown_c = 35}});
  gpu_.catalog().vms[0].confidential = true;
  for (int i = 0; i < 50 && reasons() == 0; ++i) Pass();
  EXPECT_EQ(reasons(), kThermal);
  EXPECT_NEAR(power_mw(), 10'000, 1);
}

TEST_F(BoardPhysicsTest, WithoutLevelsNothingIsLowered) {
  Make({.thermal = ThermalLimits{.software_slowdown_c = 25}});
  gpu_.clock.reset();
  for (int i = 0; i < 20; ++i) {
    gpu_.Count(1, 0, "sm_active_cycles", kTop / 10);
    gpu_.time_ns += kPowerWindowNs;
    board_->physics.Tick();
  }
  EXPECT_GT(temperature_c(), 25);
  EXPECT_EQ(reasons(), 0u);
}

}  // namespace

}  // namespace sideband::mcu
