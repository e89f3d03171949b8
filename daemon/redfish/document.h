// SPDX-License-Identifier: Apache-2.0
//
// URIs, Ids and times as Redfish writes them (DSP0266), collections of resources, and answers that are ready to be
// sent.
//   const RedfishDocument document = DocumentOf({{"@odata.type", "#Sensor.v1_7_0.Sensor"}, {"Id", "power_total"}});
//   EXPECT_EQ(document.schema, "http://redfish.dmtf.org/schemas/v1/Sensor.v1_7_0.json");
#ifndef SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
#define SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_

#include <google/protobuf/timestamp.pb.h>

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/redfish/request_target.h"

namespace sideband::daemon {

inline constexpr char kServiceRootUri[] = "/redfish/v1/";
inline constexpr char kChassisUri[] = "/redfish/v1/Chassis";
inline constexpr char kSessionServiceUri[] = "/redfish/v1/SessionService";
inline constexpr char kSessionsUri[] = "/redfish/v1/SessionService/Sessions";
inline constexpr char kJsonSchemasUri[] = "/redfish/v1/JsonSchemas";
inline constexpr char kSystemsUri[] = "/redfish/v1/Systems";
// The one system: the host in which the devices are.
inline constexpr char kHostUri[] = "/redfish/v1/Systems/Host";
inline constexpr char kProcessorsUri[] = "/redfish/v1/Systems/Host/Processors";
inline constexpr char kTelemetryServiceUri[] = "/redfish/v1/TelemetryService";
inline constexpr char kMetricDefinitionsUri[] = "/redfish/v1/TelemetryService/MetricDefinitions";
inline constexpr char kMetricReportDefinitionsUri[] = "/redfish/v1/TelemetryService/MetricReportDefinitions";
inline constexpr char kMetricReportsUri[] = "/redfish/v1/TelemetryService/MetricReports";

// The name with each byte but ASCII letters, digits, '_', '-' and '.' as '~' and two hexadecimal digits: different for
// different names, and the same in a URI as in the property Id. "." and ".." are escaped, too.
std::string RedfishId(absl::string_view name);

// The URI of the member `name` of a collection.
std::string MemberUri(absl::string_view collection, absl::string_view name);
// The URI of the sensors of a device.
std::string SensorsUri(absl::string_view device);
// `id` is an Id already.
std::string SensorUri(absl::string_view device, absl::string_view id);

// The metrics of a device.
std::string EnvironmentMetricsUri(absl::string_view device);
std::string ProcessorMetricsUri(absl::string_view device);

// ISO 8601 in UTC, with milliseconds.
std::string RedfishTime(absl::Time time);
std::string RedfishTime(const google::protobuf::Timestamp& time);

inline constexpr char kRedfishJsonType[] = "application/json; charset=utf-8";
inline constexpr char kRedfishXmlType[] = "application/xml; charset=utf-8";

struct RedfishDocument {
  std::string content_type;
  std::string text;
  std::string schema;  // the URI of DMTF's schema of its type; empty: it has none
};

// Texts from devices may be any bytes: those that are not UTF-8 are replaced.
RedfishDocument DocumentOf(const nlohmann::json& json);

// A collection of resources, or the page of it that is asked for.
struct CollectionInfo {
  const char* type;  // of Redfish, without a version: collections have none
  const char* name;
  std::string uri;
};

// {"@odata.id": uri}
nlohmann::json LinkTo(const std::string& uri);

// `names` are those of all members, before Ids are made of them. A page that leaves some for later has a link to the
// next one.
nlohmann::json CollectionJson(const CollectionInfo& info, const std::vector<std::string>& names,
                              const PageOptions& page);

// Where the request asks for the members themselves, replaces the links to those of the page. `make(i)` is the one of
// names[i]; its error, if it has one, is the answer.
absl::Status ExpandMembers(const PageOptions& page, const std::function<absl::StatusOr<nlohmann::json>(size_t)>& make,
                           nlohmann::json& collection);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
