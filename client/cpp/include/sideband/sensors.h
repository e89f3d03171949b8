// SPDX-License-Identifier: Apache-2.0
//
// The sensors that boards report of themselves: temperatures, power, memory errors, …
//   const auto sensors = client.GetSensors({.names = {"sideband_temperature_celsius"}});
//   if (!sensors) return 1;
//   for (const sideband::DeviceSensors& board : *sensors) {
//     for (const sideband::Sensor& sensor : board.sensors) std::cout << sensor.name << " " << sensor.value << "\n";
//   }
#ifndef SIDEBAND_SENSORS_H_
#define SIDEBAND_SENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sideband/time.h"

namespace sideband {

// An empty member sets no limit. Names match exactly.
struct SensorFilter {
  std::string device;
  std::vector<std::string> names;

  bool operator==(const SensorFilter&) const = default;
};

struct SensorLabel {
  std::string name;
  std::string value;

  bool operator==(const SensorLabel&) const = default;
};

struct Sensor {
  // The name of the metric in Prometheus: "sideband_temperature_celsius". Its end is the unit.
  std::string name;
  // Without `device`.
  std::vector<SensorLabel> labels;
  // In the name's unit.
  double value = 0;
  // A counter has its exact value times `count_per_unit`, and when it began.
  std::optional<uint64_t> count;
  uint64_t count_per_unit = 0;
  std::optional<Time> created;
  // The sensors of a group are read together.
  std::string group;

  bool operator==(const Sensor&) const = default;
};

struct SensorGroup {
  std::string name;
  // When its last reading began, and how long ago that was.
  Time host_time{};
  Duration age{};

  bool operator==(const SensorGroup&) const = default;
};

struct DeviceSensors {
  std::string device;
  // A sensor without a value is absent.
  std::vector<Sensor> sensors;
  std::vector<SensorGroup> groups;

  bool operator==(const DeviceSensors&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_SENSORS_H_
