// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/telemetry_resources.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/collection.h"
#include "daemon/redfish/identifiers.h"

namespace sideband::daemon {

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
  if (values_.size() >= kMetricValuesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("The report has more than ", kMetricValuesMax, " values; read /metrics or gRPC instead."));
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

}  // namespace sideband::daemon
