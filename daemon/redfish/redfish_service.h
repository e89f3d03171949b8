// SPDX-License-Identifier: Apache-2.0
//
// The Redfish resources that need a caller: devices, their processors and sensors, and telemetry, each as far as the
// caller may read them. README.md has the list.
//   const RedfishService service(sensors);
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishTarget target, ParseRedfishTarget("/redfish/v1/Chassis"));
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishDocument document, service.Get(caller, target));
#ifndef SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_
#define SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/redfish/document.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The Id of the MetricDefinition of an event at a level: "vm.tensor_active_cycles". No sensor's has a dot.
std::string CounterMetricId(absl::string_view level, absl::string_view event);

// "device", "host", "vm" or "context", as in the names of Prometheus' metrics.
const char* LevelNameOf(const sideband::v1::Scope& scope);

// A value of a metric report: of a board's sensor, or of a row's counter. Counts are exact. `device` has the sensor.
nlohmann::json SensorMetricValue(const sideband::v1::DeviceSensors& device, const sideband::v1::Sensor& sensor);

// `snapshot` is where the scope is from; its scopes are not read. `scope` has the counter.
nlohmann::json CounterMetricValue(const sideband::v1::Snapshot& snapshot, const sideband::v1::ScopeCounters& scope,
                                  const sideband::v1::Counter& counter);

// The telemetry service (DSP2046), its fixed definitions of reports, and reports.

// Bounds an answer: with short names some 6 MB.
inline constexpr size_t kMetricValuesMax = 20'000;

enum class ReportKind : uint8_t { kBoardSensors, kCounters, kPartitions };

struct ReportRow {
  ReportKind kind;
  const char* id;  // of the report, and of its definition
  const char* name;
};

inline constexpr ReportRow kReports[] = {
    {ReportKind::kBoardSensors, "BoardSensors", "Sensors of boards"},
    {ReportKind::kCounters, "Counters", "Counters of devices, VMs and contexts"},
    {ReportKind::kPartitions, "Partitions", "Metrics of boards' partitions"},
};

// nullptr if there is none.
const ReportRow* FindReport(absl::string_view id);
std::vector<std::string> ReportIds();

nlohmann::json TelemetryServiceJson();
nlohmann::json ReportDefinitionJson(const ReportRow& row);

// A report as it grows. Not thread-safe.
class MetricReport {
 public:
  // `row` is one of kReports; `values_max` is smaller where the answer has the values of other reports, too.
  explicit MetricReport(const ReportRow& row, size_t values_max = kMetricValuesMax)
      : row_(row), values_max_(values_max) {}

  // RESOURCE_EXHAUSTED where the report has `values_max` values: a part of them would look like all.
  absl::Status Add(nlohmann::json value);
  size_t size() const { return values_.size(); }
  nlohmann::json Json(absl::Time now) &&;

 private:
  const ReportRow& row_;
  const size_t values_max_;
  nlohmann::json values_ = nlohmann::json::array();
};

// The definitions of the metrics that reports have values of.
//
// Only metrics that were added are defined, which are no more than a caller may see. Not thread-safe.
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

// Thread-safe; `sensors` must outlive it.
class RedfishService {
 public:
  explicit RedfishService(const SensorQueries& sensors) : sensors_(sensors), reader_(sensors.reader()) {}

  // NotFound() for what is absent or not the caller's; the errors of PageOf; RESOURCE_EXHAUSTED for a report that is
  // too large.
  absl::StatusOr<RedfishDocument> Get(const Caller& caller, const RedfishTarget& target) const;

 private:
  struct Request {
    const Caller& caller;
    std::vector<std::string> names;  // in the place of the asterisks of the resource's path
    PageOptions page;
  };
  using Answer = absl::StatusOr<nlohmann::json>;
  struct Route {
    absl::string_view path;  // below /redfish/v1/
    bool is_collection;
    Answer (RedfishService::*get)(const Request& request) const;
  };
  static const Route kRoutes[];

  Answer ChassisCollection(const Request& request) const;
  Answer Chassis(const Request& request) const;
  Answer SensorCollection(const Request& request) const;
  Answer Sensor(const Request& request) const;
  Answer EnvironmentMetrics(const Request& request) const;
  Answer JsonSchemas(const Request& request) const;
  Answer JsonSchema(const Request& request) const;
  Answer OemSchema(const Request& request) const;
  Answer Systems(const Request& request) const;
  Answer System(const Request& request) const;
  Answer ProcessorCollection(const Request& request) const;
  Answer Processor(const Request& request) const;
  Answer ProcessorMetrics(const Request& request) const;
  Answer SessionService(const Request& request) const;
  Answer Sessions(const Request& request) const;
  Answer TelemetryService(const Request& request) const;
  Answer MetricDefinitionCollection(const Request& request) const;
  Answer MetricDefinition(const Request& request) const;
  Answer ReportDefinitionCollection(const Request& request) const;
  Answer ReportDefinition(const Request& request) const;
  Answer ReportCollection(const Request& request) const;
  Answer Report(const Request& request) const;

  nlohmann::json ChassisOf(const Caller& caller, const VisibleDevice& device) const;
  nlohmann::json ProcessorOf(const Caller& caller, const VisibleDevice& device) const;
  using MakeDevice = nlohmann::json (RedfishService::*)(const Caller& caller, const VisibleDevice& device) const;
  // The caller's devices, each as `make` has it.
  Answer DeviceCollection(const Request& request, const CollectionInfo& info, MakeDevice make) const;
  // The device with this Id; nullopt if the caller sees none.
  std::optional<VisibleDevice> FindDevice(const Caller& caller, absl::string_view id) const;
  // The sensors of a device, or of the one with this Id. NotFound() as SensorQueries::Get.
  absl::StatusOr<sideband::v1::DeviceSensors> SensorsOf(const Caller& caller, const VisibleDevice& device) const;
  absl::StatusOr<sideband::v1::DeviceSensors> SensorsOf(const Caller& caller, absl::string_view id) const;
  absl::StatusOr<MetricDefinitions> Definitions(const Caller& caller) const;
  absl::Status AddSensors(const Caller& caller, bool of_partitions, MetricReport& report) const;
  absl::Status AddCounters(const Caller& caller, MetricReport& report) const;
  // Reduces `room`, the values that the answer may still have, by those of the report.
  Answer ReportOf(const Caller& caller, const ReportRow& row, size_t& room) const;

  const SensorQueries& sensors_;
  Reader& reader_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_
