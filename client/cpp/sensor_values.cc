// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/sensor_values.h"

namespace sideband::library {

Sensor ValueOf(const v1::Sensor& sensor, Bounds& bounds) {
  Sensor value{.name = sensor.name(),
               .value = sensor.value(),
               .count_per_unit = sensor.count_per_unit(),
               .group = sensor.group()};
  for (const v1::SensorLabel& label : sensor.labels()) {
    value.labels.push_back({.name = label.name(), .value = label.value()});
  }
  if (sensor.has_count()) value.count = sensor.count();
  if (sensor.has_created()) value.created = bounds.TimeOf(sensor.created(), "created");
  return value;
}

DeviceSensors ValueOf(const v1::DeviceSensors& sensors, Bounds& bounds) {
  DeviceSensors value{.device = sensors.device()};
  if (!bounds.AddCounters(sensors.sensors_size()) || !bounds.AddCounters(sensors.groups_size())) return value;
  for (const v1::Sensor& sensor : sensors.sensors()) value.sensors.push_back(ValueOf(sensor, bounds));
  for (const v1::SensorGroup& group : sensors.groups()) {
    value.groups.push_back({.name = group.name(),
                            .host_time = bounds.TimeOf(group.host_time(), "host_time"),
                            .age = bounds.DurationOf(group.age(), "age")});
  }
  return value;
}

std::vector<DeviceSensors> ValuesOf(const v1::GetSensorsResponse& response, Bounds& bounds) {
  std::vector<DeviceSensors> values;
  if (!bounds.AddDevices(response.devices_size())) return values;
  for (const v1::DeviceSensors& device : response.devices()) values.push_back(ValueOf(device, bounds));
  return values;
}

v1::SensorFilter ToMessage(const SensorFilter& filter) {
  v1::SensorFilter message;
  message.set_device(filter.device);
  for (const std::string& name : filter.names) message.add_names(name);
  return message;
}

}  // namespace sideband::library
