// SPDX-License-Identifier: Apache-2.0
//
// The definitions of the metrics that reports have values of.
//   MetricDefinitions definitions;
//   definitions.AddSensor("gpu0", sensor);
//   definitions.AddEvent("vm", event);
//   if (const auto json = definitions.Find("vm.tensor_active_cycles")) Show(*json);
#ifndef SIDEBAND_DAEMON_REDFISH_METRIC_DEFINITIONS_H_
#define SIDEBAND_DAEMON_REDFISH_METRIC_DEFINITIONS_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Of what was added: no more than a caller may see. Not thread-safe.
class MetricDefinitions {
 public:
  void AddSensor(const std::string& device, const sideband::v1::Sensor& sensor);
  // `level` as in CounterMetricId. An event that another device has, too, is described as on the first one.
  void AddEvent(absl::string_view level, const sideband::v1::Event& event);

  // In order.
  std::vector<std::string> Ids() const;
  // nullopt for an Id that was not added.
  std::optional<nlohmann::json> Find(const std::string& id) const;

 private:
  std::map<std::string, nlohmann::json> definitions_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_METRIC_DEFINITIONS_H_
