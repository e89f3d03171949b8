// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/redfish_service.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemon/board/sensor_families.h"
#include "daemon/redfish/device_resources.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/public_documents.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/telemetry_queries.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Counter;
using sideband::v1::DeviceSensors;
using sideband::v1::Event;
using sideband::v1::Scope;
using sideband::v1::Sensor;

// The exact quotient; `per_unit` is 1 or 1000.
std::string CountText(uint64_t count, uint64_t per_unit) {
  if (per_unit <= 1 || count % per_unit == 0) return absl::StrCat(count / std::max<uint64_t>(per_unit, 1));
  std::string text = absl::StrFormat("%d.%03d", count / per_unit, count % per_unit);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

// A report has "null" for what is not a number.
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
  // NaN: it is not known.
  if (counter.has_coverage() && std::isfinite(counter.coverage())) properties["Coverage"] = counter.coverage();
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

namespace {

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
  // The name in Prometheus; a value in a report has the same labels.
  definition["Oem"]["Sideband"] = {{"@odata.type", "#SidebandTelemetry.v1_0_0.Definition"}, {"Metric", sensor.name()}};
  if (const SensorUnit* unit = SensorUnitOf(sensor.name())) definition["Units"] = unit->ucum;
  return definition;
}

// UCUM has bytes; for what it has no unit for, it has annotations.
std::string UcumOf(const std::string& unit) { return unit == "bytes" ? "By" : absl::StrCat("{", unit, "}"); }

// The names in the place of the asterisks of `path`; nullopt where the target is not of this form.
std::optional<std::vector<std::string>> Match(absl::string_view path, const RedfishTarget& target) {
  const std::vector<absl::string_view> pattern = absl::StrSplit(path, '/');
  constexpr size_t kRoot = 2;  // redfish, v1
  if (target.segments.size() != kRoot + pattern.size()) return std::nullopt;
  if (target.segments[0] != "redfish" || target.segments[1] != "v1") return std::nullopt;
  std::vector<std::string> names;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string& segment = target.segments[kRoot + i];
    if (pattern[i] == "*") {
      names.push_back(segment);
    } else if (pattern[i] != segment) {
      return std::nullopt;
    }
  }
  return names;
}

bool IsOfPartitions(const sideband::v1::Sensor& sensor) {
  const auto family = std::ranges::find(SensorFamilies(), sensor.name(), &SensorFamily::name);
  return family != SensorFamilies().end() && family->partition_metric.has_value();
}

// The levels of the rows whose counters the view shows.
std::set<std::string> LevelsOf(const VisibleDevice& device) {
  std::set<std::string> levels;
  for (const sideband::v1::Scope& scope : ScopeMessages(*device.info, *device.view)) {
    if (!scope.confidential()) levels.insert(LevelNameOf(scope));
  }
  return levels;
}

bool IsCountedAt(const sideband::v1::Event& event, const std::string& level) {
  return !event.masked() && (level == "device" || event.scope() == sideband::v1::Event::SCOPE_CONTEXT);
}

void AddEvents(const sideband::v1::ListEventsResponse& events, const VisibleDevice& device, MetricDefinitions& out) {
  const std::set<std::string> levels = LevelsOf(device);
  for (const auto& of_device : events.devices()) {
    if (of_device.device() != device.info->name) continue;
    for (const sideband::v1::Event& event : of_device.events()) {
      for (const std::string& level : levels) {
        if (IsCountedAt(event, level)) out.AddEvent(level, event);
      }
    }
  }
}

absl::Status AddSnapshot(const sideband::v1::Snapshot& snapshot, MetricReport& report) {
  for (const sideband::v1::ScopeCounters& scope : snapshot.scopes()) {
    for (const sideband::v1::Counter& counter : scope.counters()) {
      SIDEBAND_RETURN_IF_ERROR(report.Add(CounterMetricValue(snapshot, scope, counter)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const ReportRow* FindReport(absl::string_view id) {
  const auto found = std::ranges::find(kReports, id, &ReportRow::id);
  return found == std::end(kReports) ? nullptr : &*found;
}

std::vector<std::string> ReportIds() {
  std::vector<std::string> ids;
  for (const ReportRow& row : kReports) ids.emplace_back(row.id);
  return ids;
}

nlohmann::json TelemetryServiceJson() {
  return {{"@odata.id", kTelemetryServiceUri},
          {"@odata.type", "#TelemetryService.v1_3_0.TelemetryService"},
          {"Id", "TelemetryService"},
          {"Name", "Telemetry Service"},
          {"ServiceEnabled", true},
          {"Status", {{"State", "Enabled"}}},
          {"MaxReports", std::size(kReports)},
          {"MetricDefinitions", LinkTo(kMetricDefinitionsUri)},
          {"MetricReportDefinitions", LinkTo(kMetricReportDefinitionsUri)},
          {"MetricReports", LinkTo(kMetricReportsUri)}};
}

nlohmann::json ReportDefinitionJson(const ReportRow& row) {
  return {{"@odata.id", MemberUri(kMetricReportDefinitionsUri, row.id)},
          {"@odata.type", "#MetricReportDefinition.v1_4_0.MetricReportDefinition"},
          {"Id", row.id},
          {"Name", row.name},
          {"MetricReportDefinitionEnabled", true},
          {"MetricReportDefinitionType", "OnRequest"},
          {"ReportActions", {"LogToMetricReportsCollection"}},
          {"ReportUpdates", "Overwrite"},
          {"Status", {{"State", "Enabled"}}},
          {"MetricReport", LinkTo(MemberUri(kMetricReportsUri, row.id))}};
}

absl::Status MetricReport::Add(nlohmann::json value) {
  if (values_.size() >= values_max_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("The answer has more than ", kMetricValuesMax, " values; read /metrics or gRPC instead."));
  }
  values_.push_back(std::move(value));
  return absl::OkStatus();
}

nlohmann::json MetricReport::Json(absl::Time now) && {
  const size_t count = values_.size();
  return {{"@odata.id", MemberUri(kMetricReportsUri, row_.id)},
          {"@odata.type", "#MetricReport.v1_5_0.MetricReport"},
          {"Id", row_.id},
          {"Name", row_.name},
          {"Timestamp", RedfishTime(now)},
          {"MetricReportDefinition", LinkTo(MemberUri(kMetricReportDefinitionsUri, row_.id))},
          {"MetricValues", std::move(values_)},
          {"MetricValues@odata.count", count}};
}

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

const RedfishService::Route RedfishService::kRoutes[] = {
    {"Chassis", true, &RedfishService::ChassisCollection},
    {"Chassis/*", false, &RedfishService::Chassis},
    {"Chassis/*/EnvironmentMetrics", false, &RedfishService::EnvironmentMetrics},
    {"Chassis/*/Sensors", true, &RedfishService::SensorCollection},
    {"Chassis/*/Sensors/*", false, &RedfishService::Sensor},
    {"JsonSchemas", true, &RedfishService::JsonSchemas},
    {"JsonSchemas/*", false, &RedfishService::JsonSchema},
    {"Schemas/SidebandTelemetry.v1_0_0.json", false, &RedfishService::OemSchema},
    {"SessionService", false, &RedfishService::SessionService},
    {"SessionService/Sessions", true, &RedfishService::Sessions},
    {"Systems", true, &RedfishService::Systems},
    {"Systems/Host", false, &RedfishService::System},
    {"Systems/Host/Processors", true, &RedfishService::ProcessorCollection},
    {"Systems/Host/Processors/*", false, &RedfishService::Processor},
    {"Systems/Host/Processors/*/ProcessorMetrics", false, &RedfishService::ProcessorMetrics},
    {"TelemetryService", false, &RedfishService::TelemetryService},
    {"TelemetryService/MetricDefinitions", true, &RedfishService::MetricDefinitionCollection},
    {"TelemetryService/MetricDefinitions/*", false, &RedfishService::MetricDefinition},
    {"TelemetryService/MetricReportDefinitions", true, &RedfishService::ReportDefinitionCollection},
    {"TelemetryService/MetricReportDefinitions/*", false, &RedfishService::ReportDefinition},
    {"TelemetryService/MetricReports", true, &RedfishService::ReportCollection},
    {"TelemetryService/MetricReports/*", false, &RedfishService::Report},
};

absl::StatusOr<RedfishDocument> RedfishService::Get(const Caller& caller, const RedfishTarget& target) const {
  if (Match("Schemas/SidebandTelemetry_v1.xml", target)) {
    SIDEBAND_RETURN_IF_ERROR(PageOf(target, /*is_collection=*/false).status());
    return RedfishDocument{.content_type = kRedfishXmlType, .text = OemCsdl(), .schema = ""};
  }
  for (const Route& route : kRoutes) {
    auto names = Match(route.path, target);
    if (!names) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const PageOptions page, PageOf(target, route.is_collection));
    SIDEBAND_ASSIGN_OR_RETURN(const nlohmann::json json, (this->*route.get)({caller, *std::move(names), page}));
    return DocumentOf(json);
  }
  return NotFound();
}

std::optional<VisibleDevice> RedfishService::FindDevice(const Caller& caller, absl::string_view id) const {
  for (VisibleDevice& device : reader_.Devices(caller)) {
    if (RedfishId(device.info->name) == id) return std::move(device);
  }
  return std::nullopt;
}

absl::StatusOr<DeviceSensors> RedfishService::SensorsOf(const Caller& caller, const VisibleDevice& device) const {
  sideband::v1::GetSensorsRequest request;
  request.mutable_filter()->set_device(device.info->name);
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, sensors_.Get(caller, request));
  // The board is silent, or not read, and who asks sees all of it.
  DeviceSensors none;
  none.set_device(device.info->name);
  return response.devices().empty() ? none : response.devices(0);
}

absl::StatusOr<DeviceSensors> RedfishService::SensorsOf(const Caller& caller, absl::string_view id) const {
  const auto device = FindDevice(caller, id);
  if (!device) return NotFound();
  return SensorsOf(caller, *device);
}

RedfishService::Answer RedfishService::DeviceCollection(const Request& request, const CollectionInfo& info,
                                                        MakeDevice make) const {
  const std::vector<VisibleDevice> devices = reader_.Devices(request.caller);
  std::vector<std::string> names;
  for (const VisibleDevice& device : devices) names.push_back(device.info->name);
  nlohmann::json collection = CollectionJson(info, names, request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [&](size_t i) { return (this->*make)(request.caller, devices[i]); }, collection));
  return collection;
}

RedfishService::Answer RedfishService::ChassisCollection(const Request& request) const {
  return DeviceCollection(request, {"ChassisCollection", "Chassis Collection", kChassisUri},
                          &RedfishService::ChassisOf);
}

nlohmann::json RedfishService::ChassisOf(const Caller& caller, const VisibleDevice& device) const {
  const auto sensors = SensorsOf(caller, device);
  return ChassisJson(DeviceMessage(device), sensors.ok() ? std::optional(*sensors) : std::nullopt);
}

RedfishService::Answer RedfishService::Chassis(const Request& request) const {
  const auto device = FindDevice(request.caller, request.names[0]);
  if (!device) return NotFound();
  return ChassisOf(request.caller, *device);
}

RedfishService::Answer RedfishService::SensorCollection(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const DeviceSensors device, SensorsOf(request.caller, request.names[0]));
  std::vector<std::string> ids;
  std::vector<std::pair<const sideband::v1::Sensor*, RedfishReading>> sensors;  // parallel to `ids`
  for (const auto& sensor : device.sensors()) {
    const auto reading = RedfishReadingOf(sensor);
    if (!reading) continue;
    ids.push_back(reading->id);
    sensors.emplace_back(&sensor, *reading);
  }
  nlohmann::json collection =
      CollectionJson({"SensorCollection", "Sensor Collection", SensorsUri(device.device())}, ids, request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [&](size_t i) { return SensorJson(device, *sensors[i].first, sensors[i].second); }, collection));
  return collection;
}

RedfishService::Answer RedfishService::Sensor(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const DeviceSensors device, SensorsOf(request.caller, request.names[0]));
  for (const auto& sensor : device.sensors()) {
    const auto reading = RedfishReadingOf(sensor);
    if (reading && reading->id == request.names[1]) return SensorJson(device, sensor, *reading);
  }
  return NotFound();
}

RedfishService::Answer RedfishService::EnvironmentMetrics(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const DeviceSensors device, SensorsOf(request.caller, request.names[0]));
  auto metrics = EnvironmentMetricsJson(device);
  if (!metrics) return NotFound();
  return *std::move(metrics);
}

RedfishService::Answer RedfishService::JsonSchemas(const Request& request) const {
  nlohmann::json collection = CollectionJson(
      {"JsonSchemaFileCollection", "JSON Schema File Collection", kJsonSchemasUri}, {kOemVersion}, request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [](size_t) { return JsonSchemaFileJson(); }, collection));
  return collection;
}

RedfishService::Answer RedfishService::JsonSchema(const Request& request) const {
  if (request.names[0] != kOemVersion) return NotFound();
  return JsonSchemaFileJson();
}

RedfishService::Answer RedfishService::OemSchema(const Request&) const { return OemJsonSchema(); }

RedfishService::Answer RedfishService::Systems(const Request& request) const {
  nlohmann::json collection =
      CollectionJson({"ComputerSystemCollection", "Computer System Collection", kSystemsUri}, {"Host"}, request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [&](size_t) { return System(request); }, collection));
  return collection;
}

// Without power, boot and actions, which are not the daemon's to tell or to take.
RedfishService::Answer RedfishService::System(const Request&) const {
  return nlohmann::json{{"@odata.id", kHostUri},
                        {"@odata.type", "#ComputerSystem.v1_17_0.ComputerSystem"},
                        {"Id", "Host"},
                        {"Name", "Host of the devices"},
                        {"Status", {{"State", "Enabled"}}},
                        {"Processors", LinkTo(kProcessorsUri)}};
}

RedfishService::Answer RedfishService::ProcessorCollection(const Request& request) const {
  return DeviceCollection(request, {"ProcessorCollection", "Processor Collection", kProcessorsUri},
                          &RedfishService::ProcessorOf);
}

nlohmann::json RedfishService::ProcessorOf(const Caller& caller, const VisibleDevice& device) const {
  return ProcessorJson(DeviceMessage(device), SensorsOf(caller, device).value_or(DeviceSensors()));
}

RedfishService::Answer RedfishService::Processor(const Request& request) const {
  const auto device = FindDevice(request.caller, request.names[0]);
  if (!device) return NotFound();
  return ProcessorOf(request.caller, *device);
}

RedfishService::Answer RedfishService::ProcessorMetrics(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const DeviceSensors device, SensorsOf(request.caller, request.names[0]));
  auto metrics = ProcessorMetricsJson(device);
  if (!metrics) return NotFound();
  return *std::move(metrics);
}

// There are no sessions: clients have certificates or bearer tokens.
RedfishService::Answer RedfishService::SessionService(const Request&) const {
  return nlohmann::json{{"@odata.id", kSessionServiceUri}, {"@odata.type", "#SessionService.v1_1_8.SessionService"},
                        {"Id", "SessionService"},          {"Name", "Session Service"},
                        {"ServiceEnabled", false},         {"Status", {{"State", "Disabled"}}},
                        {"Sessions", LinkTo(kSessionsUri)}};
}

RedfishService::Answer RedfishService::Sessions(const Request& request) const {
  return CollectionJson({"SessionCollection", "Session Collection", kSessionsUri}, {}, request.page);
}

RedfishService::Answer RedfishService::TelemetryService(const Request&) const { return TelemetryServiceJson(); }

absl::StatusOr<MetricDefinitions> RedfishService::Definitions(const Caller& caller) const {
  MetricDefinitions definitions;
  SIDEBAND_ASSIGN_OR_RETURN(const auto sensors, sensors_.Get(caller, {}));
  for (const DeviceSensors& device : sensors.devices()) {
    for (const auto& sensor : device.sensors()) definitions.AddSensor(device.device(), sensor);
  }
  SIDEBAND_ASSIGN_OR_RETURN(const auto events, ListEvents(reader_, caller, {}));
  for (const VisibleDevice& device : reader_.Devices(caller)) {
    if (device.view != nullptr) AddEvents(events, device, definitions);
  }
  return definitions;
}

RedfishService::Answer RedfishService::MetricDefinitionCollection(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const MetricDefinitions definitions, Definitions(request.caller));
  const std::vector<std::string> ids = definitions.Ids();
  nlohmann::json collection = CollectionJson(
      {"MetricDefinitionCollection", "Metric Definition Collection", kMetricDefinitionsUri}, ids, request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [&](size_t i) { return *definitions.Find(ids[i]); }, collection));
  return collection;
}

RedfishService::Answer RedfishService::MetricDefinition(const Request& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const MetricDefinitions definitions, Definitions(request.caller));
  auto definition = definitions.Find(request.names[0]);
  if (!definition) return NotFound();
  return *std::move(definition);
}

RedfishService::Answer RedfishService::ReportDefinitionCollection(const Request& request) const {
  nlohmann::json collection = CollectionJson(
      {"MetricReportDefinitionCollection", "Metric Report Definition Collection", kMetricReportDefinitionsUri},
      ReportIds(), request.page);
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [](size_t i) { return ReportDefinitionJson(kReports[i]); }, collection));
  return collection;
}

RedfishService::Answer RedfishService::ReportDefinition(const Request& request) const {
  const ReportRow* row = FindReport(request.names[0]);
  if (row == nullptr) return NotFound();
  return ReportDefinitionJson(*row);
}

RedfishService::Answer RedfishService::ReportCollection(const Request& request) const {
  nlohmann::json collection = CollectionJson({"MetricReportCollection", "Metric Report Collection", kMetricReportsUri},
                                             ReportIds(), request.page);
  size_t room = kMetricValuesMax;
  SIDEBAND_RETURN_IF_ERROR(ExpandMembers(
      request.page, [&](size_t i) { return ReportOf(request.caller, kReports[i], room); }, collection));
  return collection;
}

absl::Status RedfishService::AddSensors(const Caller& caller, bool of_partitions, MetricReport& report) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, sensors_.Get(caller, {}));
  for (const DeviceSensors& device : response.devices()) {
    for (const auto& sensor : device.sensors()) {
      if (IsOfPartitions(sensor) != of_partitions) continue;
      SIDEBAND_RETURN_IF_ERROR(report.Add(SensorMetricValue(device, sensor)));
    }
  }
  return absl::OkStatus();
}

// A device that is not fresh has no counters, as in a scrape.
absl::Status RedfishService::AddCounters(const Caller& caller, MetricReport& report) const {
  for (const VisibleDevice& device : reader_.Devices(caller)) {
    if (device.state != VisibleDevice::State::kFresh) continue;
    SIDEBAND_RETURN_IF_ERROR(AddSnapshot(SnapshotMessage(device, RowFilter()), report));
  }
  return absl::OkStatus();
}

RedfishService::Answer RedfishService::ReportOf(const Caller& caller, const ReportRow& row, size_t& room) const {
  MetricReport report(row, room);
  switch (row.kind) {
    case ReportKind::kBoardSensors:
      SIDEBAND_RETURN_IF_ERROR(AddSensors(caller, /*of_partitions=*/false, report));
      break;
    case ReportKind::kCounters:
      SIDEBAND_RETURN_IF_ERROR(AddCounters(caller, report));
      break;
    case ReportKind::kPartitions:
      SIDEBAND_RETURN_IF_ERROR(AddSensors(caller, /*of_partitions=*/true, report));
      break;
  }
  room -= report.size();
  return std::move(report).Json(reader_.clock().Now());
}

RedfishService::Answer RedfishService::Report(const Request& request) const {
  const ReportRow* row = FindReport(request.names[0]);
  if (row == nullptr) return NotFound();
  size_t room = kMetricValuesMax;
  return ReportOf(request.caller, *row, room);
}

}  // namespace sideband::daemon
