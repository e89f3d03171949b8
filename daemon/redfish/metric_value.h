// SPDX-License-Identifier: Apache-2.0
//
// A value of a metric report: of a board's sensor, or of a row's counter. Counts are exact.
//   values.push_back(SensorMetricValue(device, sensor));
//   values.push_back(CounterMetricValue(snapshot, scope, counter));
#ifndef SIDEBAND_DAEMON_REDFISH_METRIC_VALUE_H_
#define SIDEBAND_DAEMON_REDFISH_METRIC_VALUE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The Id of the MetricDefinition of an event at a level: "vm.tensor_active_cycles". No sensor's has a dot.
std::string CounterMetricId(absl::string_view level, absl::string_view event);

// "device", "host", "vm" or "context", as in the names of Prometheus' metrics.
const char* LevelNameOf(const sideband::v1::Scope& scope);

// `device` has the sensor.
nlohmann::json SensorMetricValue(const sideband::v1::DeviceSensors& device, const sideband::v1::Sensor& sensor);

// `snapshot` is where the scope is from; its scopes are not read. `scope` has the counter.
nlohmann::json CounterMetricValue(const sideband::v1::Snapshot& snapshot, const sideband::v1::ScopeCounters& scope,
                                  const sideband::v1::Counter& counter);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_METRIC_VALUE_H_
