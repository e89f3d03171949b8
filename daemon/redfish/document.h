// SPDX-License-Identifier: Apache-2.0
//
// The forms that all Redfish resources share (DSP0266): the target of a request and the page that it asks for, URIs,
// Ids and times, collections, answers that are ready to be sent, and errors with messages of DMTF's registry Base.
//   SIDEBAND_ASSIGN_OR_RETURN(const RedfishTarget target, ParseRedfishTarget("/redfish/v1/Chassis?$top=1"));
//   SIDEBAND_ASSIGN_OR_RETURN(const PageOptions page, PageOf(target, /*is_collection=*/true));
//   const RedfishDocument document = DocumentOf({{"@odata.type", "#Sensor.v1_7_0.Sensor"}, {"Id", "power_total"}});
//   EXPECT_EQ(document.schema, "http://redfish.dmtf.org/schemas/v1/Sensor.v1_7_0.json");
//   const RedfishError error = RedfishErrorOf(absl::NotFoundError(""), "/redfish/v1/Chassis/gpu9");
//   EXPECT_EQ(error.http_status, 404);
#ifndef SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
#define SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_

#include <google/protobuf/timestamp.pb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// The names in a request's path, and its query.
struct RedfishTarget {
  std::vector<std::string> segments;                            // percent-decoded; without that of a slash at the end
  std::vector<std::pair<std::string, std::string>> parameters;  // names and values of the query, likewise
};

// INVALID_ARGUMENT where `target` is not in origin form (RFC 9112, section 3.2.1).
absl::StatusOr<RedfishTarget> ParseRedfishTarget(absl::string_view target);

// The members of a collection that a request asks for.
struct PageOptions {
  size_t skip = 0;
  std::optional<size_t> top;  // nullopt: all of the rest
  // The option of $expand: ".", "*" or "~"; empty without it. A collection has no Links, so that '~' expands nothing.
  std::string expand;

  bool expands_members() const { return expand == "." || expand == "*"; }
};

// By the parameters $skip, $top and $expand. As DSP0266 demands, other parameters are ignored, but UNIMPLEMENTED if
// they begin with '$', as is $expand of a resource that is not a collection. INVALID_ARGUMENT where $skip or $top has
// no number from 0 to 999,999,999, or the resource is not a collection, where $expand is malformed, and where one is
// given twice. OUT_OF_RANGE for other $levels than 1. The errors are for RedfishErrorOf.
absl::StatusOr<PageOptions> PageOf(const RedfishTarget& target, bool is_collection);

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

// An error as DSP0266, "Error responses", has it.
struct RedfishError {
  int http_status = 500;
  nlohmann::json document;
};

// The error with the arguments of its message in the registry: of OUT_OF_RANGE the value, the parameter and what it may
// be; of INVALID_ARGUMENT, which has them only where a parameter of the query is meant, its name.
absl::Status WithMessageArgs(absl::Status error, const std::vector<std::string>& arguments);

// The error's message, where it has one, is the advice to the client (Resolution); a status of another server must not
// be passed on. `path` is the request's, without its query: an absent and a denied resource have the same document.
// Codes other than those of this folder are 503.
RedfishError RedfishErrorOf(const absl::Status& error, absl::string_view path);

// The caller has used up what it may cost: 429.
RedfishError RedfishBusyError(int64_t retry_after_s);

// A method other than GET and HEAD: 405.
RedfishError RedfishMethodError();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_REDFISH_DOCUMENT_H_
