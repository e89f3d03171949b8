// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"

namespace sideband::daemon {
namespace {

using mailbox::Capability;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::TempSensor;
using mailbox::ThermParam;

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

}  // namespace
}  // namespace sideband::daemon
