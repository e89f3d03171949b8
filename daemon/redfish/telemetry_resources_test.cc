// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/telemetry_resources.h"

#include <gtest/gtest.h>

#include <utility>

namespace sideband::daemon {
namespace {

TEST(TelemetryResourcesTest, EachReportHasADefinition) {
  for (const ReportRow& row : kReports) {
    EXPECT_EQ(FindReport(row.id), &row);
    const auto definition = ReportDefinitionJson(row);
    const auto report = MetricReport(row).Json(absl::UnixEpoch());
    EXPECT_EQ(definition["MetricReport"]["@odata.id"], report["@odata.id"]);
    EXPECT_EQ(report["MetricReportDefinition"]["@odata.id"], definition["@odata.id"]);
    EXPECT_EQ(definition["MetricReportDefinitionType"], "OnRequest");
  }
  EXPECT_EQ(FindReport("counters"), nullptr);
}

TEST(TelemetryResourcesTest, AReport) {
  MetricReport report(*FindReport("Counters"));
  ASSERT_TRUE(report.Add({{"MetricId", "vm.cycles"}}).ok());
  EXPECT_EQ(std::move(report).Json(absl::UnixEpoch()),
            nlohmann::json({{"@odata.id", "/redfish/v1/TelemetryService/MetricReports/Counters"},
                            {"@odata.type", "#MetricReport.v1_5_0.MetricReport"},
                            {"Id", "Counters"},
                            {"Name", "Counters of devices, VMs and contexts"},
                            {"Timestamp", "1970-01-01T00:00:00.000Z"},
                            {"MetricReportDefinition",
                             {{"@odata.id", "/redfish/v1/TelemetryService/MetricReportDefinitions/Counters"}}},
                            {"MetricValues", nlohmann::json::array({{{"MetricId", "vm.cycles"}}})},
                            {"MetricValues@odata.count", 1}}));
}

TEST(TelemetryResourcesTest, AReportIsBounded) {
  MetricReport report(*FindReport("Counters"));
  for (size_t i = 0; i < kMetricValuesMax; ++i) ASSERT_TRUE(report.Add(nlohmann::json::object()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(report.Add(nlohmann::json::object())));
}

TEST(TelemetryResourcesTest, TheServiceLeadsToItsCollections) {
  const auto service = TelemetryServiceJson();
  EXPECT_EQ(service["ServiceEnabled"], true);
  EXPECT_EQ(service["MaxReports"], 3);
  EXPECT_EQ(service["MetricReports"]["@odata.id"], "/redfish/v1/TelemetryService/MetricReports");
}

}  // namespace
}  // namespace sideband::daemon
