// SPDX-License-Identifier: Apache-2.0
//
// A device as Redfish has it: a chassis, and the processor on it. Their values are those of the board's sensors that
// the caller sees; what is unknown is absent. Units are Redfish's: MHz, MiB, percent.
//   Show(ProcessorJson(device, sensors));
#ifndef SIDEBAND_DAEMON_REDFISH_DEVICE_RESOURCES_H_
#define SIDEBAND_DAEMON_REDFISH_DEVICE_RESOURCES_H_

#include <nlohmann/json.hpp>
#include <optional>

#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Without `sensors` there is no collection of them.
nlohmann::json ChassisJson(const sideband::v1::Device& device,
                           const std::optional<sideband::v1::DeviceSensors>& sensors);

// `sensors` is empty for callers who do not see the board.
nlohmann::json ProcessorJson(const sideband::v1::Device& device, const sideband::v1::DeviceSensors& sensors);

// Temperature, power, its limit and energy, each with the Sensor that it is from. nullopt where none is known.
std::optional<nlohmann::json> EnvironmentMetricsJson(const sideband::v1::DeviceSensors& sensors);

// Utilisation, clock, margin and errors of PCIe. nullopt where none is known.
std::optional<nlohmann::json> ProcessorMetricsJson(const sideband::v1::DeviceSensors& sensors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_DEVICE_RESOURCES_H_
