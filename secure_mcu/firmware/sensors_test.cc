// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/sensors.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_device.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;

constexpr uint64_t kSecond = 1'000'000'000;

class SensorsTest : public testing::Test {
 protected:
  FakeDevice device_;
  Sensors sensors_{device_, PowerModel({.idle_mw = 10'000, .event_pj = {2000}, .ambient_c = 20, .c_per_watt = 0.55})};
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
  Sensors cold(device_, PowerModel({.idle_mw = 0, .ambient_c = -10.25, .c_per_watt = 0}));
  EXPECT_EQ(static_cast<int32_t>(cold.GetTemperature(0, true).data), -10 * 256 - 64);
  EXPECT_EQ(static_cast<int32_t>(cold.GetTemperature(0, false).data), -11 * 256) << "rounded down, as a shift does";
}

TEST_F(SensorsTest, WhatANumberCannotHoldIsItsLimit) {
  Sensors hot(device_, PowerModel({.idle_mw = 1e12, .c_per_watt = 10}));
  EXPECT_EQ(hot.GetPower(0).data, 0xFFFFFFFFu);
  EXPECT_EQ(hot.GetTemperature(0, true).data, 0x7FFFFFFFu);
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

}  // namespace
}  // namespace sideband::mcu
