// SPDX-License-Identifier: Apache-2.0
//
// URIs, Ids and times as Redfish writes them (DSP0266).
//   resource["@odata.id"] = SensorUri("gpu0", "temperature_gpu");   // /redfish/v1/Chassis/gpu0/Sensors/temperature_gpu
//   resource["ReadingTime"] = RedfishTime(absl::FromUnixSeconds(0));   // 1970-01-01T00:00:00.000Z
#ifndef SIDEBAND_DAEMON_REDFISH_IDENTIFIERS_H_
#define SIDEBAND_DAEMON_REDFISH_IDENTIFIERS_H_

#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

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

// Of the member `name` of a collection.
std::string MemberUri(absl::string_view collection, absl::string_view name);
// Of the sensors of a device.
std::string SensorsUri(absl::string_view device);
// `id` is an Id already.
std::string SensorUri(absl::string_view device, absl::string_view id);

// The metrics of a device.
std::string EnvironmentMetricsUri(absl::string_view device);
std::string ProcessorMetricsUri(absl::string_view device);

// ISO 8601 in UTC, with milliseconds.
std::string RedfishTime(absl::Time time);
std::string RedfishTime(const google::protobuf::Timestamp& time);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_IDENTIFIERS_H_
