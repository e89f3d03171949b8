// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/board_unit.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
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

constexpr uint64_t kSecond = 1'000'000'000;

struct SensedBoard {
  SensedBoard(Device& device, const PowerModel::Config& power, const ComplementPolicy& complement = {},
              const BoardSpec& spec = {})
      : board(device, PowerModel(power), spec), sensors(device, board, complement) {}

  BoardUnit board;
  Sensors sensors;
};

class SensorsTest : public testing::Test {
 protected:
  FakeDevice device_;
  SensedBoard sensed_{device_, {.idle_mw = 10'000, .event_pj = {2000}, .ambient_c = 20, .c_per_watt = 0.55}};
  Sensors& sensors_ = sensed_.sensors;
};

TEST_F(SensorsTest, FollowTheCounters) {
  EXPECT_EQ(sensors_.GetPower(0).data, 10'000u);
  EXPECT_EQ(sensors_.GetTemperature(0, true).data, 25u * 256 + 128);
  EXPECT_EQ(sensors_.GetTemperature(0, false).data, 25u * 256);
  device_.counters = {kSecond};
  device_.time_ns = kSecond;
  EXPECT_EQ(sensors_.GetPower(0).data, 12'000u);
}

TEST_F(SensorsTest, EnergyAddsUp) {
  EXPECT_EQ(sensors_.EnergyMj(), 0u);
  device_.counters = {kSecond};
  device_.time_ns = kSecond;
  EXPECT_EQ(sensors_.EnergyMj(), 12'000u);
  device_.time_ns = 3 * kSecond;
  EXPECT_EQ(sensors_.EnergyMj(), 32'000u) << "idle since";
  device_.time_ns = 500'000 * kSecond;
  EXPECT_EQ(sensors_.GetEnergy(0).data, 5'000'002'000u & 0xFFFFFFFF);
  EXPECT_EQ(sensors_.GetEnergy(0).extended_data, 1u);
}

TEST_F(SensorsTest, AWinterNightIsNegative) {
  SensedBoard cold(device_, {.idle_mw = 0, .ambient_c = -10.25, .c_per_watt = 0});
  EXPECT_EQ(static_cast<int32_t>(cold.sensors.GetTemperature(0, true).data), -10 * 256 - 64);
  EXPECT_EQ(static_cast<int32_t>(cold.sensors.GetTemperature(0, false).data), -11 * 256)
      << "rounded down, as a shift does";
}

TEST_F(SensorsTest, WhatANumberCannotHoldIsItsLimit) {
  SensedBoard hot(device_, {.idle_mw = 1e12, .c_per_watt = 10});
  EXPECT_EQ(hot.sensors.GetPower(0).data, 0xFFFFFFFFu);
  EXPECT_EQ(hot.sensors.GetTemperature(0, true).data, 0x7FFFFFFFu);
}

TEST_F(SensorsTest, SourcesThatAreNotThere) {
  for (const uint8_t sensor : {1, 4, 5, 6, 7}) {
    EXPECT_EQ(sensors_.GetTemperature(sensor, true).status, MailboxStatus::kErrNotSupported) << int{sensor};
  }
  for (const uint8_t sensor : {2, 3, 8, 31, 32, 255}) {
    EXPECT_EQ(sensors_.GetTemperature(sensor, false).status, MailboxStatus::kErrArg1) << int{sensor};
  }
  EXPECT_EQ(sensors_.GetPower(3).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(sensors_.GetPower(4).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(sensors_.GetEnergy(3).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(sensors_.GetEnergy(1).status, MailboxStatus::kErrArg1);
}

// --- A board with all sensors

class BoardSensorsTest : public testing::Test {
 protected:
  BoardSensorsTest() {
    gpu_.Count(1, 0, "sm_active_cycles", kSecond);
    gpu_.Count(1, 0, "dram_read_cycles", kSecond);
    gpu_.time_ns += kSecond;
  }

  const BoardSpec spec_ = {
      .thermal = ThermalLimits{},
      .module_overhead_mw = 5000,
      .memory = MemorySensorSpec{.events = {"dram_read_cycles"}, .idle_mw = 2000, .c_per_watt = 2}};
  FakeGpu gpu_;
  // A time constant of next to nothing: the temperature is that of the power.
  SensedBoard sensed_{
      gpu_,
      {.idle_mw = 10'000, .event_pj = {1000, 3000}, .ambient_c = 20, .c_per_watt = 1, .time_constant_s = 1e-3},
      {},
      spec_};
  Sensors& sensors_ = sensed_.sensors;
};

TEST_F(BoardSensorsTest, PowersOfRails) {
  EXPECT_EQ(sensors_.GetPower(0).data, 14'000u);
  EXPECT_EQ(sensors_.GetPower(2).data, 5000u) << "the memory's part";
  EXPECT_EQ(sensors_.GetPower(3).data, 19'000u);
  EXPECT_EQ(sensors_.GetPower(1).status, MailboxStatus::kErrNotSupported);
}

TEST_F(BoardSensorsTest, EnergyOfTheModule) {
  EXPECT_EQ(sensors_.GetEnergy(0).data, 14'000u);
  EXPECT_EQ(sensors_.GetEnergy(3).data, 19'000u);
}

TEST_F(BoardSensorsTest, TemperaturesAndTheMargin) {
  EXPECT_EQ(sensors_.GetTemperature(0, true).data, 34u * 256);
  EXPECT_EQ(sensors_.GetTemperature(5, true).data, 30u * 256);
  EXPECT_EQ(sensors_.GetTemperature(7, true).data, (92u - 34) * 256) << "below the hardware's slowdown";
}

TEST_F(BoardSensorsTest, Thresholds) {
  const int32_t expected[] = {83, 92, 97, 95, 87, 9, 0, -5, -3, 5};
  for (uint8_t param = 0; param < std::size(expected); ++param) {
    EXPECT_EQ(static_cast<int32_t>(sensors_.GetThermParam(param).data), expected[param] * 256) << int{param};
  }
  EXPECT_EQ(sensors_.GetThermParam(10).status, MailboxStatus::kErrArg1);
  SensedBoard bare(gpu_, {});
  EXPECT_EQ(bare.sensors.GetThermParam(0).status, MailboxStatus::kErrNotSupported);
  EXPECT_EQ(bare.sensors.GetThermParam(10).status, MailboxStatus::kErrArg1);
  SensedBoard without_memory(gpu_, {}, {}, {.thermal = ThermalLimits{}});
  EXPECT_EQ(without_memory.sensors.GetThermParam(3).status, MailboxStatus::kErrNotSupported);
}

// The law of the emulated board: energy is the sum of power over time.
TEST_F(BoardSensorsTest, EnergyIsTheSumOfPower) {
  double sum_mj = sensors_.GetEnergy(0).data;
  for (uint64_t step = 1; step <= 50; ++step) {
    gpu_.Count(1, 0, "sm_active_cycles", step * 7'777'777);
    gpu_.time_ns += 100'000'000;
    sum_mj += sensors_.GetPower(0).data * 0.1;
    EXPECT_NEAR(sensors_.GetEnergy(0).data, sum_mj, 1 + 0.05 * static_cast<double>(step)) << step;
  }
}

// --- The rules of complement protection (complement.h)

// In a second, an open VM uses 1 J, the confidential VM 2, a host 4 and the device's link 8, beside 10 W of idling.
class SensorsComplementTest : public testing::Test {
 protected:
  SensorsComplementTest() {
    gpu_.AddHostBlock(0);
    gpu_.catalog().vms[1].confidential = true;
  }
  Sensors& After(const ComplementPolicy& complement) {
    const PowerModel::Config power = {
        .idle_mw = 10'000, .event_pj = {1000, 0, 0, 0, 8000}, .ambient_c = 20, .c_per_watt = 1};
    boards_.push_back(std::make_unique<SensedBoard>(gpu_, power, complement));
    Sensors& sensors = boards_.back()->sensors;
    sensors.GetPower(0);
    gpu_.Count(1, 0, "sm_active_cycles", kSecond);
    gpu_.Count(2, 0, "sm_active_cycles", 2 * kSecond);
    gpu_.Count(0, 0, "sm_active_cycles", 4 * kSecond);
    gpu_.Count(0, mailbox::kNoContext, "pcie_tx_cycles", kSecond);
    gpu_.time_ns += kSecond;
    return sensors;
  }
  static ComplementPolicy All(Complement rule) { return {.power = rule, .energy = rule, .temperature = rule}; }

  FakeGpu gpu_;
  std::vector<std::unique_ptr<SensedBoard>> boards_;
};

TEST_F(SensorsComplementTest, ExcludedIsWhatIsNotTheConfidentialVms) {
  Sensors& sensors = After({});
  EXPECT_EQ(sensors.GetPower(0).data, 15'000u) << "the open VM and the host";
  EXPECT_EQ(sensors.EnergyMj(), 15'000u);
}

TEST_F(SensorsComplementTest, BesideAPrivateVmItIsTheDevicesBlock) {
  // The fake's device block has the counts of all VMs, and so tells which block was taken.
  gpu_.catalog().vms[1].is_private = true;
  EXPECT_EQ(After({}).GetPower(0).data, 17'000u) << "without events of the device's scope";
}

TEST_F(SensorsComplementTest, AllowedIsEverything) {
  Sensors& sensors = After(All(Complement::kAllow));
  EXPECT_EQ(sensors.GetPower(0).data, 25'000u);
  EXPECT_EQ(sensors.EnergyMj(), 25'000u);
  EXPECT_GT(sensors.GetTemperature(0, true).data, After({}).GetTemperature(0, true).data);
}

TEST_F(SensorsComplementTest, AllowedIsEveryPrivateVmToo) {
  gpu_.catalog().vms[1].is_private = true;
  EXPECT_EQ(After(All(Complement::kAllow)).GetPower(0).data, 27'000u) << "its block beside the device's";
}

TEST_F(SensorsComplementTest, WithheldIsNotAvailable) {
  Sensors& sensors = After(All(Complement::kWithhold));
  EXPECT_EQ(sensors.GetPower(0).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(sensors.GetEnergy(0).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(sensors.GetTemperature(0, true).status, MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(sensors.EnergyMj(), std::nullopt);
  EXPECT_EQ(sensors.GetPower(3).status, MailboxStatus::kErrNotSupported) << "what the board lacks comes first";
}

TEST_F(SensorsComplementTest, WithheldValuesStayWithheld) {
  gpu_.catalog().vms[1].confidential = false;
  gpu_.catalog().has_had_confidential_vm = true;
  EXPECT_EQ(After(All(Complement::kWithhold)).EnergyMj(), std::nullopt) << "energy is of all time";
  gpu_.catalog().has_had_confidential_vm = false;
  EXPECT_TRUE(After(All(Complement::kWithhold)).EnergyMj());
}

TEST_F(SensorsComplementTest, EachClassHasItsRule) {
  Sensors& sensors = After({.power = Complement::kAllow, .temperature = Complement::kWithhold});
  EXPECT_EQ(sensors.GetPower(0).data, 25'000u);
  EXPECT_EQ(sensors.EnergyMj(), 15'000u);
  EXPECT_EQ(sensors.GetTemperature(0, true).status, MailboxStatus::kErrNotAvailable);
}

}  // namespace
}  // namespace sideband::mcu
