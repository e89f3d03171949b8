// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncType;
using mailbox::BoardClock;
using mailbox::Capability;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::ThermParam;
using mailbox::Violation;

constexpr uint32_t Fixed(double celsius) { return static_cast<uint32_t>(static_cast<int32_t>(celsius * 256)); }

class ThermalReaderTest : public testing::Test {
 protected:
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(ThermalReaderTest, ReadsAnnouncedSensorsWithTheirFraction) {
  board_.Announce(Capability::kTempGpu0);
  board_.Announce(Capability::kTempMemory);
  board_.capabilities.dwords[0] |= 8 << 8;
  board_.Set(Opcode::kGetExtTemp, 0, 0, Fixed(45.5));
  board_.Set(Opcode::kGetExtTemp, 5, 0, Fixed(-3.25));
  const auto& celsius = runner_.Read(BoardGroup::kTemperature).temperature.celsius;
  EXPECT_EQ(celsius, (std::map<TempSensor, double>{{TempSensor::kGpu0, 45.5}, {TempSensor::kMemory, -3.25}}));
  EXPECT_EQ(runner_.commands, 2u);
}

TEST_F(ThermalReaderTest, UsesTheOlderCommandWithoutFractions) {
  board_.Announce(Capability::kTempGpu0);
  board_.Set(Opcode::kGetTemp, 0, 0, Fixed(45));
  EXPECT_EQ(runner_.Read(BoardGroup::kTemperature).temperature.celsius.at(TempSensor::kGpu0), 45);
  EXPECT_EQ(board_.CountOf(Opcode::kGetExtTemp), 0u);
}

TEST_F(ThermalReaderTest, TakesBothBoundsAndNothingBeyond) {
  board_.Announce(Capability::kTempGpu0);
  const auto read = [&](double celsius) {
    board_.Set(Opcode::kGetTemp, 0, 0, Fixed(celsius));
    return Find(runner_.Read(BoardGroup::kTemperature).temperature.celsius, TempSensor::kGpu0);
  };
  EXPECT_EQ(read(-60), -60);
  EXPECT_EQ(read(-60.5), std::nullopt);
  EXPECT_EQ(read(250), 250);
  EXPECT_EQ(read(250.5), std::nullopt);
  EXPECT_EQ(runner_.reports.size(), 3u);  // implausible, plausible again, implausible
}

TEST_F(ThermalReaderTest, WhatIsUnknownIsAbsent) {
  board_.Announce(Capability::kTempGpu0);
  board_.Set(Opcode::kGetTemp, 0, 0, Fixed(45));
  for (const MailboxStatus status :
       {MailboxStatus::kErrNotAvailable, MailboxStatus::kErrNotSupported, MailboxStatus::kErrSensorData}) {
    board_.errors[Opcode::kGetTemp] = status;
    EXPECT_TRUE(runner_.Read(BoardGroup::kTemperature).temperature.celsius.empty());
    runner_.memory.refused.clear();
  }
  EXPECT_TRUE(runner_.reports.empty());
}

TEST_F(ThermalReaderTest, ReadsTheMargin) {
  board_.Announce(Capability::kTLimit);
  board_.Set(Opcode::kGetTemp, 7, 0, Fixed(12));
  EXPECT_EQ(runner_.Read(BoardGroup::kMargin).margin.celsius, 12);
}

TEST_F(ThermalReaderTest, ReadsAnnouncedThresholds) {
  board_.Announce(Capability::kThermShutdown);
  board_.Announce(Capability::kMemoryTLimit);
  board_.Set(Opcode::kGetThermParam, 2, 0, Fixed(95));
  board_.Set(Opcode::kGetThermParam, 8, 0, Fixed(-2));
  EXPECT_EQ(runner_.Read(BoardGroup::kThresholds).thresholds.celsius,
            (std::map<ThermParam, double>{{ThermParam::kShutdown, 95}, {ThermParam::kMemorySlowdownTLimit, -2}}));
}

class PowerReaderTest : public testing::Test {
 protected:
  std::optional<RunningCount> Energy(PowerSource source = PowerSource::kTotal) {
    return Find(runner_.Read(BoardGroup::kEnergy).energy.millijoules, source);
  }
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(PowerReaderTest, ReadsAnnouncedSources) {
  board_.Announce(Capability::kPowerTotal);
  board_.Announce(Capability::kPowerModule);
  board_.Set(Opcode::kGetPower, 0, 0, 123'456);
  board_.Set(Opcode::kGetPower, 3, 0, 200'000);
  EXPECT_EQ(runner_.Read(BoardGroup::kPower).power.watts,
            (std::map<PowerSource, double>{{PowerSource::kTotal, 123.456}, {PowerSource::kModule, 200}}));
}

TEST_F(PowerReaderTest, TakesTenKilowattsAndNoMore) {
  board_.Announce(Capability::kPowerTotal);
  board_.Set(Opcode::kGetPower, 0, 0, 10'000'000);
  EXPECT_EQ(runner_.Read(BoardGroup::kPower).power.watts.at(PowerSource::kTotal), 10'000);
  board_.Set(Opcode::kGetPower, 0, 0, 10'000'001);
  EXPECT_TRUE(runner_.Read(BoardGroup::kPower).power.watts.empty());
}

TEST_F(PowerReaderTest, EnergyHasBothDwords) {
  board_.Announce(Capability::kEnergy);
  board_.Announce(Capability::kEnergyModule);
  board_.Set(Opcode::kGetEnergy, 0, 0, 5, 2);
  board_.Set(Opcode::kGetEnergy, 3, 0, 6, 0);
  EXPECT_EQ(Energy()->value, 0x2'0000'0005u);
  EXPECT_EQ(Energy(PowerSource::kModule)->value, 6u);
}

TEST_F(PowerReaderTest, EnergyOfOneDwordIsUnwrapped) {
  board_.Announce(Capability::kEnergy);
  board_.Set(Opcode::kGetEnergy, 0, 0, 0xFFFF'FFFF);
  const absl::Time created = Energy()->created;
  board_.Set(Opcode::kGetEnergy, 0, 0, 999);
  EXPECT_EQ(Energy(), (RunningCount{0x1'0000'0000 + 999, created}));
}

TEST_F(PowerReaderTest, EnergyThatFallsBeginsAnew) {
  board_.Announce(Capability::kEnergy);
  board_.Set(Opcode::kGetEnergy, 0, 0, 1'000'000);
  Energy();
  board_.Set(Opcode::kGetEnergy, 0, 0, 10);
  const RunningCount again = *Energy();
  EXPECT_EQ(again, (RunningCount{10, runner_.now.wall}));
}

TEST_F(PowerReaderTest, WithoutTheCommandEnergyIsAsynchronous) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kPowerTotal);
  board_.async[AsyncType::kEnergy] = {.dwords = {7, 1}};
  EXPECT_EQ(Energy()->value, 0x1'0000'0007u);
}

TEST_F(PowerReaderTest, ReadsLimits) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kPowerLimit);
  board_.Announce(Capability::kModuleLimitInfo);
  board_.async[AsyncType::kGetPowerLimit] = {.dwords = {0, mailbox::kNoLimit, 350'000}};
  board_.async[AsyncType::kPowerLimitInfo] = {.dwords = {100'000, 400'000, 10'000'001}};
  board_.async[AsyncType::kModuleLimitInfo] = {.dwords = {1'000, 2'000, 1'500}};
  const auto& limits = runner_.Read(BoardGroup::kPowerLimits).power_limits.limits;
  const PowerLimits& total = limits.at(PowerSource::kTotal);
  EXPECT_EQ(total.current, 350);
  EXPECT_EQ(total.minimum, 100);
  EXPECT_EQ(total.maximum, 400);
  EXPECT_EQ(total.standard, std::nullopt);  // implausible
  EXPECT_EQ(limits.at(PowerSource::kModule).standard, 1.5);
  EXPECT_EQ(limits.at(PowerSource::kModule).current, std::nullopt);
}

TEST_F(PowerReaderTest, NoLimitIsAbsent) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kPowerLimit);
  board_.async[AsyncType::kGetPowerLimit] = {.dwords = {0, mailbox::kNoLimit, mailbox::kNoLimit}};
  EXPECT_TRUE(runner_.Read(BoardGroup::kPowerLimits).power_limits.limits.empty());
  EXPECT_TRUE(runner_.reports.empty());
}

class ClockReaderTest : public testing::Test {
 protected:
  FakeBoard board_;
  RoundRunner runner_{board_};
};

TEST_F(ClockReaderTest, ReadsClocksStateAndReasons) {
  for (const auto capability : {Capability::kClocks, Capability::kPState, Capability::kThrottleReason}) {
    board_.Announce(capability);
  }
  board_.Set(Opcode::kGetClock, 0, 0, 1980);
  board_.Set(Opcode::kGetClock, 0, 1, 100'000);
  board_.Set(Opcode::kGetClock, 3, 0, 0xFFFF'FFF2);
  board_.Set(Opcode::kGetClock, 5, 0, 0xFFFF'FFC4);  // bits above 5 have no name
  const ClockReading& clocks = runner_.Read(BoardGroup::kClocks).clocks;
  EXPECT_EQ(clocks.current_mhz,
            (std::map<BoardClock, double>{{BoardClock::kGraphics, 1980}, {BoardClock::kMemory, 100'000}}));
  EXPECT_EQ(clocks.performance_state, 2);
  EXPECT_EQ(clocks.throttle_active, 4u);
}

TEST_F(ClockReaderTest, AnInvalidStateAndAnImpossibleClockAreAbsent) {
  board_.Announce(Capability::kClocks);
  board_.Announce(Capability::kPState);
  board_.Set(Opcode::kGetClock, 0, 0, 100'001);
  board_.Set(Opcode::kGetClock, 3, 0, mailbox::kPStateInvalid);
  const ClockReading& clocks = runner_.Read(BoardGroup::kClocks).clocks;
  EXPECT_TRUE(clocks.current_mhz.empty());
  EXPECT_EQ(clocks.performance_state, std::nullopt);
  EXPECT_EQ(clocks.throttle_active, std::nullopt);
}

TEST_F(ClockReaderTest, ReadsLimits) {
  board_.Announce(Capability::kClocks);
  board_.Announce(Capability::kThrottleReason);
  board_.Set(Opcode::kGetClock, 1, 0, 210);
  board_.Set(Opcode::kGetClock, 2, 1, 2619);
  board_.Set(Opcode::kGetClock, 4, 0, 0x3F);
  const ClockLimitReading& limits = runner_.Read(BoardGroup::kClockLimits).clock_limits;
  EXPECT_EQ(limits.minimum_mhz, (std::map<BoardClock, double>{{BoardClock::kGraphics, 210}}));
  EXPECT_EQ(limits.maximum_mhz, (std::map<BoardClock, double>{{BoardClock::kMemory, 2619}}));
  EXPECT_EQ(limits.throttle_supported, 0x3Fu);
}

TEST_F(ClockReaderTest, ReadsAnnouncedViolationsThatTheBoardHasFilled) {
  board_.AnnounceScratch();
  board_.Announce(Capability::kHwViolation);
  board_.Announce(Capability::kSwPowerViolation);
  board_.Announce(Capability::kSwThermalViolation);
  // HW, SW global and SW power.
  board_.async[mailbox::AsyncType::kViolations] = {.dwords = {0b0111, 0, 1, 2, 3, 0, 5, 0, 7, 0}};
  const auto& counts = runner_.Read(BoardGroup::kViolations).violations.counts;
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts.at(Violation::kHardware).value, 0x2'0000'0001u);
  EXPECT_EQ(counts.at(Violation::kSoftwarePower).value, 5u);
  // All are asked for.
  EXPECT_EQ(board_.log.front().word.opcode, Opcode::kScratchWrite);
  EXPECT_EQ(board_.log.front().data, mailbox::kAllViolations);
}

}  // namespace
}  // namespace sideband::daemon
