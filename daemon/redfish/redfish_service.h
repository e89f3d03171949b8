// SPDX-License-Identifier: Apache-2.0
//
// The Redfish resources that need a caller: devices, their sensors, and telemetry, each as far as the caller may read
// them. README.md has the list.
//   const RedfishService service(sensors);
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishTarget target, ParseRedfishTarget("/redfish/v1/Chassis"));
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishDocument document, service.Get(caller, target));
#ifndef SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_
#define SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/metric_definitions.h"
#include "daemon/redfish/request_target.h"
#include "daemon/redfish/telemetry_resources.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

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
  Answer SessionService(const Request& request) const;
  Answer Sessions(const Request& request) const;
  Answer TelemetryService(const Request& request) const;
  Answer MetricDefinitionCollection(const Request& request) const;
  Answer MetricDefinition(const Request& request) const;
  Answer ReportDefinitionCollection(const Request& request) const;
  Answer ReportDefinition(const Request& request) const;
  Answer ReportCollection(const Request& request) const;
  Answer Report(const Request& request) const;

  // The device with this Id; nullopt if the caller sees none.
  std::optional<VisibleDevice> FindDevice(const Caller& caller, absl::string_view id) const;
  // Of a device by its Id. NotFound() as SensorQueries::Get.
  absl::StatusOr<sideband::v1::DeviceSensors> SensorsOf(const Caller& caller, absl::string_view id) const;
  // The labels of the board's identity; empty for those who do not see the whole board.
  std::map<std::string, std::string> IdentityOf(const Caller& caller, const std::string& device) const;
  absl::StatusOr<MetricDefinitions> Definitions(const Caller& caller) const;
  absl::Status AddSensors(const Caller& caller, bool of_partitions, MetricReport& report) const;
  absl::Status AddCounters(const Caller& caller, MetricReport& report) const;

  const SensorQueries& sensors_;
  Reader& reader_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_REDFISH_SERVICE_H_
