// SPDX-License-Identifier: Apache-2.0
//
// A device as a Redfish chassis.
//   const nlohmann::json chassis = ChassisJson(DeviceMessage(device), {.has_sensors = true});
#ifndef SIDEBAND_DAEMON_REDFISH_CHASSIS_RESOURCE_H_
#define SIDEBAND_DAEMON_REDFISH_CHASSIS_RESOURCE_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// What the caller may see of a device beside the device itself.
struct ChassisDetails {
  bool has_sensors = false;                     // whether there is a collection of them
  std::map<std::string, std::string> identity;  // the labels of sideband_board_info
};

nlohmann::json ChassisJson(const sideband::v1::Device& device, const ChassisDetails& details);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_CHASSIS_RESOURCE_H_
