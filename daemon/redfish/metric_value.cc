// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/metric_value.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/redfish/identifiers.h"
#include "daemon/redfish/sensor_resource.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Counter;
using sideband::v1::Scope;
using sideband::v1::Sensor;

// The exact quotient; `per_unit` is 1 or 1000.
std::string CountText(uint64_t count, uint64_t per_unit) {
  if (per_unit <= 1 || count % per_unit == 0) return absl::StrCat(count / std::max<uint64_t>(per_unit, 1));
  std::string text = absl::StrFormat("%d.%03d", count / per_unit, count % per_unit);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

// "null" is what a report has for what is no number.
std::string ValueText(const Sensor& sensor) {
  if (sensor.has_count()) return CountText(sensor.count(), sensor.count_per_unit());
  const double value = ValueInRedfish(sensor);
  return std::isfinite(value) ? NumberText(value) : "null";
}

nlohmann::json Oem(nlohmann::json properties) { return {{"Sideband", std::move(properties)}}; }

nlohmann::json SensorProperties(const std::string& device, const Sensor& sensor) {
  nlohmann::json labels = nlohmann::json::object();
  for (const auto& label : sensor.labels()) labels[label.name()] = label.value();
  nlohmann::json properties = {{"@odata.type", "#SidebandTelemetry.v1_0_0.SensorValue"}, {"Device", device}};
  if (!labels.empty()) properties["Labels"] = std::move(labels);
  if (sensor.has_created()) properties["Created"] = RedfishTime(sensor.created());
  return properties;
}

void AddScope(const Scope& scope, nlohmann::json& properties) {
  properties["Device"] = scope.device();
  if (scope.has_slice()) properties["Slice"] = scope.slice();
  if (!scope.vm_uuid().empty()) {
    properties["Vm"] = scope.vm();
    properties["VmUuid"] = scope.vm_uuid();
  }
  if (!scope.context().empty()) properties["Context"] = scope.context();
  properties["Generation"] = scope.generation();
}

void AddExactness(const Counter& counter, nlohmann::json& properties) {
  if (counter.has_coverage()) properties["Coverage"] = counter.coverage();
  if (!counter.has_estimate()) return;
  const sideband::v1::Estimate& estimate = counter.estimate();
  if (estimate.has_standard_error()) properties["StandardError"] = absl::StrCat(estimate.standard_error());
  properties["LowerBound"] = absl::StrCat(estimate.lower());
  if (estimate.has_upper()) properties["UpperBound"] = absl::StrCat(estimate.upper());
}

}  // namespace

std::string CounterMetricId(absl::string_view level, absl::string_view event) {
  return absl::StrCat(level, ".", RedfishId(event));
}

const char* LevelNameOf(const Scope& scope) {
  if (scope.host()) return "host";
  if (scope.vm_uuid().empty()) return "device";
  return scope.context().empty() ? "vm" : "context";
}

nlohmann::json SensorMetricValue(const sideband::v1::DeviceSensors& device, const Sensor& sensor) {
  nlohmann::json value = {{"MetricId", SensorMetricId(sensor.name())},
                          {"MetricValue", ValueText(sensor)},
                          {"Timestamp", ReadingTimeOf(device, sensor)},
                          {"Oem", Oem(SensorProperties(device.device(), sensor))}};
  if (const auto reading = RedfishReadingOf(sensor)) {
    value["MetricProperty"] = absl::StrCat(SensorUri(device.device(), reading->id), "#/Reading");
  }
  return value;
}

nlohmann::json CounterMetricValue(const sideband::v1::Snapshot& snapshot, const sideband::v1::ScopeCounters& scope,
                                  const Counter& counter) {
  nlohmann::json properties = {{"@odata.type", "#SidebandTelemetry.v1_0_0.CounterValue"}};
  AddScope(scope.scope(), properties);
  AddExactness(counter, properties);
  for (const std::string& flag : scope.flags()) properties["Flags"].push_back(flag);
  return {{"MetricId", CounterMetricId(LevelNameOf(scope.scope()), counter.event())},
          {"MetricValue", absl::StrCat(counter.count())},
          {"Timestamp", RedfishTime(snapshot.host_time())},
          {"Oem", Oem(std::move(properties))}};
}

}  // namespace sideband::daemon
