// SPDX-License-Identifier: Apache-2.0
#include "client/top/board.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sideband::client::top {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

void Add(const std::string& name, const Labels& labels, double value, v1::DeviceSensors& device) {
  v1::Sensor& sensor = *device.add_sensors();
  sensor.set_name(name);
  sensor.set_value(value);
  for (const auto& [label, text] : labels) {
    sensor.add_labels()->set_name(label);
    sensor.mutable_labels(sensor.labels_size() - 1)->set_value(text);
  }
}

v1::DeviceSensors AHotBoard() {
  v1::DeviceSensors device;
  Add("sideband_temperature_celsius", {{"sensor", "gpu"}}, 82, device);
  Add("sideband_temperature_celsius", {{"sensor", "memory"}}, 40, device);
  Add("sideband_temperature_margin_celsius", {{"sensor", "gpu"}}, 8, device);
  Add("sideband_power_watts", {{"sensor", "total"}}, 214.6, device);
  Add("sideband_power_watts", {{"sensor", "module"}}, 244.6, device);
  Add("sideband_power_limit_watts", {{"kind", "current"}, {"sensor", "total"}}, 400, device);
  Add("sideband_power_limit_watts", {{"kind", "maximum"}, {"sensor", "total"}}, 450, device);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "current"}}, 7e8, device);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "maximum"}}, 1.4e9, device);
  Add("sideband_throttle_active", {{"reason", "software_thermal"}}, 1, device);
  Add("sideband_throttle_active", {{"reason", "hardware_thermal"}}, 0, device);
  Add("sideband_reset_required", {}, 0, device);
  return device;
}

TEST(BoardTest, AHotBoard) {
  const BoardEntry board = BoardOf(AHotBoard());
  EXPECT_EQ(BriefText(board), "82°C 215W");
  EXPECT_EQ(LongText(board), "82.0 °C, 8.0 below its limit, 214.6 of 400 W, 700MHz, throttled: software_thermal");
  EXPECT_FALSE(board.needs_action);
}

TEST(BoardTest, WhatIsUnknownIsAbsent) {
  EXPECT_EQ(BriefText({}), "");
  EXPECT_EQ(LongText({}), "");
  EXPECT_EQ(LongText({.watts = 90}), "90.0 W");
}

TEST(BoardTest, SomeStatesNeedAction) {
  const std::vector<std::pair<std::string, Labels>> due = {{"sideband_reset_required", {}},
                                                           {"sideband_drain_recommended", {}},
                                                           {"sideband_row_remap_state", {{"state", "pending"}}}};
  for (const auto& [name, labels] : due) {
    v1::DeviceSensors device = AHotBoard();
    Add(name, labels, 1, device);
    EXPECT_TRUE(BoardOf(device).needs_action) << name;
  }
  v1::DeviceSensors device;
  Add("sideband_row_remap_state", {{"state", "excess"}}, 1, device);
  EXPECT_FALSE(BoardOf(device).needs_action);
}

}  // namespace
}  // namespace sideband::client::top
