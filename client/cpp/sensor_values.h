// SPDX-License-Identifier: Apache-2.0
//
// Boards' sensors: the messages of the API as the library's values.
//   Bounds bounds;
//   const std::vector<DeviceSensors> boards = ValuesOf(response, bounds);
#ifndef SIDEBAND_CLIENT_CPP_SENSOR_VALUES_H_
#define SIDEBAND_CLIENT_CPP_SENSOR_VALUES_H_

#include <vector>

#include "client/cpp/bounds.h"
#include "sideband/sensors.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::library {

Sensor ValueOf(const v1::Sensor& sensor, Bounds& bounds);
DeviceSensors ValueOf(const v1::DeviceSensors& sensors, Bounds& bounds);
std::vector<DeviceSensors> ValuesOf(const v1::GetSensorsResponse& response, Bounds& bounds);

v1::SensorFilter ToMessage(const SensorFilter& filter);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SENSOR_VALUES_H_
