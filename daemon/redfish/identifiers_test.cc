// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/identifiers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::daemon {
namespace {

TEST(IdentifiersTest, PlainNamesAreTheirIds) { EXPECT_EQ(RedfishId("gpu-0.a_B"), "gpu-0.a_B"); }

TEST(IdentifiersTest, OtherBytesAreEscaped) {
  EXPECT_EQ(RedfishId("a/b?c#d%"), "a~2Fb~3Fc~23d~25");
  EXPECT_EQ(RedfishId("a b"), "a~20b");
  EXPECT_EQ(RedfishId("\xC3\xBC\n"), "~C3~BC~0A");
  EXPECT_EQ(RedfishId(std::string("\0", 1)), "~00");
}

TEST(IdentifiersTest, DotSegmentsAreEscaped) {
  EXPECT_EQ(RedfishId("."), "~2E");
  EXPECT_EQ(RedfishId(".."), "~2E~2E");
  EXPECT_EQ(RedfishId("..."), "...");
}

TEST(IdentifiersTest, DifferentNamesHaveDifferentIds) {
  std::set<std::string> ids;
  std::set<std::string> names = {"", "~", "~2F", "/", "2F", "~7E2F", "a~", "a/"};
  for (int byte = 1; byte < 256; ++byte) names.insert(std::string(1, static_cast<char>(byte)));
  for (const std::string& name : names) EXPECT_TRUE(ids.insert(RedfishId(name)).second) << RedfishId(name);
}

TEST(IdentifiersTest, Uris) {
  EXPECT_EQ(MemberUri(kMetricReportsUri, "Counters"), "/redfish/v1/TelemetryService/MetricReports/Counters");
  EXPECT_EQ(SensorUri("gpu0", "power_total"), "/redfish/v1/Chassis/gpu0/Sensors/power_total");
  EXPECT_EQ(SensorsUri("a/b"), "/redfish/v1/Chassis/a~2Fb/Sensors");
  EXPECT_EQ(EnvironmentMetricsUri("a/b"), "/redfish/v1/Chassis/a~2Fb/EnvironmentMetrics");
  EXPECT_EQ(ProcessorMetricsUri("a/b"), "/redfish/v1/Systems/Host/Processors/a~2Fb/ProcessorMetrics");
}

TEST(IdentifiersTest, TimesAreUtcWithMilliseconds) {
  EXPECT_EQ(RedfishTime(absl::FromUnixMillis(1'800'000'000'007)), "2027-01-15T08:00:00.007Z");
  google::protobuf::Timestamp time;
  time.set_seconds(1'800'000'000);
  time.set_nanos(7'999'999);
  EXPECT_EQ(RedfishTime(time), "2027-01-15T08:00:00.007Z");
}

}  // namespace
}  // namespace sideband::daemon
