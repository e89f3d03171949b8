// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/document.h"

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

nlohmann::json Page(size_t skip, std::optional<size_t> top) {
  return CollectionJson({"ChassisCollection", "Chassis Collection", "/c"}, {"a", "b", "c/d"}, {skip, top, ""});
}

TEST(CollectionTest, AllMembers) {
  EXPECT_EQ(Page(0, std::nullopt), nlohmann::json({{"@odata.id", "/c"},
                                                   {"@odata.type", "#ChassisCollection.ChassisCollection"},
                                                   {"Name", "Chassis Collection"},
                                                   {"Members", {LinkTo("/c/a"), LinkTo("/c/b"), LinkTo("/c/c~2Fd")}},
                                                   {"Members@odata.count", 3}}));
}

TEST(CollectionTest, APageLeadsToTheNextOne) {
  const nlohmann::json first = Page(0, 2);
  EXPECT_EQ(first["Members"], nlohmann::json({LinkTo("/c/a"), LinkTo("/c/b")}));
  EXPECT_EQ(first["Members@odata.count"], 3) << "of all";
  EXPECT_EQ(first["Members@odata.nextLink"], "/c?$skip=2&$top=2");
  const nlohmann::json second = Page(2, 2);
  EXPECT_EQ(second["Members"], nlohmann::json::array({LinkTo("/c/c~2Fd")}));
  EXPECT_FALSE(second.contains("Members@odata.nextLink"));
}

absl::Status Expand(const PageOptions& page, nlohmann::json& collection) {
  const std::vector<std::string> names = {"a", "b", "c"};
  collection = CollectionJson({"ChassisCollection", "Chassis Collection", "/c"}, names, page);
  const auto make = [&](size_t i) -> absl::StatusOr<nlohmann::json> {
    if (names[i] == "c") return absl::ResourceExhaustedError("c");
    return nlohmann::json({{"Id", names[i]}});
  };
  return ExpandMembers(page, make, collection);
}

TEST(CollectionTest, MembersAreExpandedWhereTheyAreAskedFor) {
  nlohmann::json collection;
  ASSERT_TRUE(Expand({1, 1, "."}, collection).ok());
  EXPECT_EQ(collection["Members"], nlohmann::json::array({{{"Id", "b"}}})) << "the page's";
  EXPECT_EQ(collection["Members@odata.nextLink"], "/c?$skip=2&$top=1&$expand=.");
  ASSERT_TRUE(Expand({0, 1, "*"}, collection).ok());
  EXPECT_EQ(collection["Members"], nlohmann::json::array({{{"Id", "a"}}}));
  for (const char* expand : {"", "~"}) {
    ASSERT_TRUE(Expand({0, 3, expand}, collection).ok());
    EXPECT_EQ(collection["Members"][2], LinkTo("/c/c"));
  }
}

TEST(CollectionTest, TheErrorOfAMemberIsTheAnswer) {
  nlohmann::json collection;
  EXPECT_TRUE(absl::IsResourceExhausted(Expand({0, std::nullopt, "."}, collection)));
}

TEST(CollectionTest, PagesWithoutMembers) {
  for (const auto& page : {Page(3, std::nullopt), Page(999'999'999, 999'999'999), Page(0, 0)}) {
    EXPECT_EQ(page["Members"], nlohmann::json::array());
    EXPECT_EQ(page["Members@odata.count"], 3);
    EXPECT_FALSE(page.contains("Members@odata.nextLink"));
  }
}

}  // namespace

}  // namespace sideband::daemon
