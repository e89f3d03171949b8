// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/chassis_resource.h"

#include "daemon/redfish/collection.h"
#include "daemon/redfish/identifiers.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Device;

struct IdentityRow {
  const char* label;
  const char* property;
};
constexpr IdentityRow kIdentity[] = {{"name", "Model"}, {"part_number", "PartNumber"}, {"serial", "SerialNumber"}};

// No health: the daemon judges none.
const char* StateOf(const Device& device) {
  return device.state() == Device::STATE_FRESH ? "Enabled" : "UnavailableOffline";
}

}  // namespace

nlohmann::json ChassisJson(const Device& device, const ChassisDetails& details) {
  nlohmann::json chassis = {{"@odata.id", MemberUri(kChassisUri, device.name())},
                            {"@odata.type", "#Chassis.v1_14_0.Chassis"},
                            {"Id", RedfishId(device.name())},
                            {"Name", device.name()},
                            {"ChassisType", "Card"},
                            {"Status", {{"State", StateOf(device)}}}};
  if (!device.uuid().empty()) chassis["UUID"] = device.uuid();
  for (const auto& [label, property] : kIdentity) {
    const auto found = details.identity.find(label);
    if (found != details.identity.end()) chassis[property] = found->second;
  }
  if (details.has_sensors) chassis["Sensors"] = LinkTo(SensorsUri(device.name()));
  return chassis;
}

}  // namespace sideband::daemon
