// SPDX-License-Identifier: Apache-2.0
//
// A device as Redfish has it: a chassis, the processor on it, and the board's sensors for which Redfish has a type of
// reading; the other sensors are in metric reports only. Values are those of the sensors that the caller sees; what is
// unknown is absent. Units are Redfish's: MHz, MiB, percent.
//   Show(ProcessorJson(device, sensors));
#ifndef SIDEBAND_DAEMON_REDFISH_DEVICE_RESOURCES_H_
#define SIDEBAND_DAEMON_REDFISH_DEVICE_RESOURCES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The value of the label; empty if the sensor has none of this name.
absl::string_view LabelOf(const sideband::v1::Sensor& sensor, absl::string_view name);

// A unit of a family of sensors, by the end of its name.
struct SensorUnit {
  const char* suffix;   // "_watts"
  const char* ucum;     // "W"
  const char* reading;  // the value of ReadingType; nullptr: Redfish has none
};

// nullptr where the name ends in no unit, as of flags.
const SensorUnit* SensorUnitOf(absl::string_view family);

// The Id of a family's MetricDefinition: its name without "sideband_" and, where Redfish has a type for it, the unit.
std::string SensorMetricId(absl::string_view family);

// A share is in percent, other values are as they are.
double ValueInRedfish(const sideband::v1::Sensor& sensor);

// When the sensor's group was read; empty if the device has no such group.
std::string ReadingTimeOf(const sideband::v1::DeviceSensors& device, const sideband::v1::Sensor& sensor);

struct RedfishReading {
  std::string id;     // of the Sensor, which no other sensor of the device has
  const char* type;   // ReadingType
  const char* units;  // ReadingUnits
  bool is_headroom = false;
};

// nullopt for what Redfish has no type for, and for limits, which are no readings.
std::optional<RedfishReading> RedfishReadingOf(const sideband::v1::Sensor& sensor);

// `device` has the sensor, whose reading it is, and the limits that are its thresholds.
nlohmann::json SensorJson(const sideband::v1::DeviceSensors& device, const sideband::v1::Sensor& sensor,
                          const RedfishReading& reading);

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
