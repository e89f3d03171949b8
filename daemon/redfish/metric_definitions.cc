// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/metric_definitions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/identifiers.h"
#include "daemon/redfish/metric_value.h"
#include "daemon/redfish/sensor_resource.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Event;
using sideband::v1::Sensor;

nlohmann::json DefinitionJson(const std::string& id, const std::string& description) {
  return {{"@odata.id", MemberUri(kMetricDefinitionsUri, id)},
          {"@odata.type", "#MetricDefinition.v1_3_0.MetricDefinition"},
          {"Id", id},
          {"Name", id},
          {"Description", description},
          {"IsLinear", true}};
}

// Redfish's counters are of integers: energy, in joules, is a number that grows.
const char* MetricTypeOf(const Sensor& sensor) {
  if (!sensor.has_count()) return "Gauge";
  return sensor.count_per_unit() > 1 ? "Numeric" : "Counter";
}

nlohmann::json SensorDefinition(const std::string& id, const Sensor& sensor) {
  const auto family = std::ranges::find(SensorFamilies(), sensor.name(), &SensorFamily::name);
  nlohmann::json definition = DefinitionJson(id, family == SensorFamilies().end() ? "" : family->help);
  definition["MetricType"] = MetricTypeOf(sensor);
  definition["MetricDataType"] = sensor.has_count() && sensor.count_per_unit() <= 1 ? "Integer" : "Decimal";
  definition["Implementation"] = "PhysicalSensor";
  // Of Prometheus, with the same labels as a value's in a report.
  definition["Oem"]["Sideband"] = {{"@odata.type", "#SidebandTelemetry.v1_0_0.Definition"}, {"Metric", sensor.name()}};
  if (const SensorUnit* unit = SensorUnitOf(sensor.name())) definition["Units"] = unit->ucum;
  return definition;
}

// UCUM has bytes; for what it has no unit for, it has annotations.
std::string UcumOf(const std::string& unit) { return unit == "bytes" ? "By" : absl::StrCat("{", unit, "}"); }

}  // namespace

void MetricDefinitions::AddSensor(const std::string& device, const Sensor& sensor) {
  const std::string id = SensorMetricId(sensor.name());
  const auto [definition, is_new] = definitions_.try_emplace(id);
  if (is_new) definition->second = SensorDefinition(id, sensor);
  if (const auto reading = RedfishReadingOf(sensor)) {
    definition->second["MetricProperties"].push_back(absl::StrCat(SensorUri(device, reading->id), "#/Reading"));
  }
}

void MetricDefinitions::AddEvent(absl::string_view level, const Event& event) {
  const std::string id = CounterMetricId(level, event.name());
  const auto [definition, is_new] = definitions_.try_emplace(id);
  if (!is_new) return;
  definition->second = DefinitionJson(id, event.description());
  definition->second["MetricType"] = "Counter";
  definition->second["MetricDataType"] = "Integer";
  definition->second["Implementation"] = "DigitalMeter";
  definition->second["Units"] = UcumOf(event.unit());
}

std::vector<std::string> MetricDefinitions::Ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, definition] : definitions_) ids.push_back(id);
  return ids;
}

std::optional<nlohmann::json> MetricDefinitions::Find(const std::string& id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sideband::daemon
