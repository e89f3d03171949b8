// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/chassis_resource.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(ChassisResourceTest, ADeviceWithABoard) {
  sideband::v1::Device device;
  device.set_name("gpu 0");
  device.set_uuid("00000000-0000-0000-0000-0000000000d0");
  device.set_state(sideband::v1::Device::STATE_FRESH);
  const auto chassis =
      ChassisJson(device, {.has_sensors = true, .identity = {{"name", "Board"}, {"serial", "1"}, {"firmware", "2"}}});
  EXPECT_EQ(chassis, nlohmann::json({{"@odata.id", "/redfish/v1/Chassis/gpu~200"},
                                     {"@odata.type", "#Chassis.v1_14_0.Chassis"},
                                     {"Id", "gpu~200"},
                                     {"Name", "gpu 0"},
                                     {"ChassisType", "Card"},
                                     {"Status", {{"State", "Enabled"}}},
                                     {"UUID", "00000000-0000-0000-0000-0000000000d0"},
                                     {"Model", "Board"},
                                     {"SerialNumber", "1"},
                                     {"Sensors", {{"@odata.id", "/redfish/v1/Chassis/gpu~200/Sensors"}}}}));
}

TEST(ChassisResourceTest, WhatIsUnknownIsAbsent) {
  sideband::v1::Device device;
  device.set_name("gpu0");
  device.set_state(sideband::v1::Device::STATE_AWAY);
  const auto chassis = ChassisJson(device, {});
  EXPECT_EQ(chassis["Status"]["State"], "UnavailableOffline");
  for (const char* name : {"UUID", "Model", "Sensors"}) EXPECT_FALSE(chassis.contains(name)) << name;
}

}  // namespace
}  // namespace sideband::daemon
