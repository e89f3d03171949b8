// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;
using testing::Pair;

absl::StatusOr<PageOptions> AskedPage(absl::string_view query, bool is_collection = true) {
  return PageOf(*ParseRedfishTarget(absl::StrCat("/redfish/v1/Chassis", query)), is_collection);
}

TEST(RequestTargetTest, SegmentsAndParametersAreDecoded) {
  const auto target = ParseRedfishTarget("/redfish/v1/%24metadata/a%2Fb?%24top=%31&x&y=");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_THAT(target->segments, ElementsAre("redfish", "v1", "$metadata", "a/b"));
  EXPECT_THAT(target->parameters, ElementsAre(Pair("$top", "1"), Pair("x", ""), Pair("y", "")));
}

TEST(RequestTargetTest, OneSlashAtTheEndIsIgnored) {
  EXPECT_THAT(ParseRedfishTarget("/redfish/v1/")->segments, ElementsAre("redfish", "v1"));
  EXPECT_THAT(ParseRedfishTarget("/redfish/v1//")->segments, ElementsAre("redfish", "v1", ""));
  EXPECT_THAT(ParseRedfishTarget("/")->segments, ElementsAre());
}

TEST(RequestTargetTest, WhatIsNoTargetIsRejected) {
  for (const char* target :
       {"", "redfish", "/redfish/%", "/redfish/%zz", "/redfish/a b", "http://x/redfish", "/redfish/\xFF"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRedfishTarget(target).status())) << target;
  }
}

TEST(RequestTargetTest, Pages) {
  EXPECT_EQ(AskedPage("")->skip, 0u);
  EXPECT_EQ(AskedPage("")->top, std::nullopt);
  EXPECT_EQ(AskedPage("?$skip=2")->skip, 2u);
  EXPECT_EQ(AskedPage("?$top=0")->top, 0u);
  EXPECT_EQ(AskedPage("?$skip=999999999&$top=999999999")->top, 999'999'999u);
}

TEST(RequestTargetTest, BadNumbersAreRejected) {
  for (const char* query : {"?$top", "?$top=", "?$top=-1", "?$top=+1", "?$top=%201", "?$top=1.0", "?$top=x",
                            "?$skip=1000000000", "?$skip=4294967297", "?$top=1&$top=1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(AskedPage(query).status())) << query;
  }
}

TEST(RequestTargetTest, APageIsOfACollection) {
  EXPECT_TRUE(absl::IsInvalidArgument(AskedPage("?$top=1", /*is_collection=*/false).status()));
  EXPECT_TRUE(AskedPage("?only", /*is_collection=*/false).ok());
}

TEST(RequestTargetTest, MembersAreExpandedByOneLevel) {
  struct Row {
    const char* query;
    const char* expand;
    bool expands_members;
  };
  for (const Row& row :
       {Row{"", "", false}, Row{"?$expand=.", ".", true}, Row{"?$expand=*", "*", true}, Row{"?$expand=~", "~", false},
        Row{"?$expand=.($levels=1)", ".", true}, Row{"?%24expand=%2A(%24levels%3D1)&$top=1", "*", true}}) {
    EXPECT_EQ(AskedPage(row.query)->expand, row.expand) << row.query;
    EXPECT_EQ(AskedPage(row.query)->expands_members(), row.expands_members) << row.query;
  }
  EXPECT_TRUE(absl::IsUnimplemented(AskedPage("?$expand=.", /*is_collection=*/false).status()));
}

TEST(RequestTargetTest, OtherExpansionsAreRejected) {
  for (const char* query :
       {"?$expand", "?$expand=", "?$expand=x", "?$expand=..", "?$expand=.*", "?$expand=.()", "?$expand=.($levels)",
        "?$expand=.($levels=)", "?$expand=.($levels=-1)", "?$expand=.($levels=1", "?$expand=.($levels=1))",
        "?$expand=.($levels=1)x", "?$expand=.($level=1)", "?$expand=Members", "?$expand=.&$expand=."}) {
    EXPECT_TRUE(absl::IsInvalidArgument(AskedPage(query).status())) << query;
  }
  for (const char* levels : {"0", "2", "01", "99999999999999999999"}) {
    EXPECT_TRUE(absl::IsOutOfRange(AskedPage(absl::StrCat("?$expand=.($levels=", levels, ")")).status())) << levels;
  }
}

TEST(RequestTargetTest, OtherOptionsAreNotImplementedIfTheyBeginWithADollar) {
  for (const char* query : {"?$filter=x", "?$select=Name", "?$", "?%24count"}) {
    EXPECT_TRUE(absl::IsUnimplemented(AskedPage(query).status())) << query;
  }
  EXPECT_EQ(AskedPage("?$top=1&$filter=x").status().message(), "Remove the query parameter $filter.");
  EXPECT_TRUE(AskedPage("?only&excerpt&x=$expand").ok()) << "others are ignored";
}

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

const nlohmann::json& InfoOf(const RedfishError& error) { return error.document["error"]["@Message.ExtendedInfo"][0]; }

TEST(ErrorDocumentTest, EachCodeHasItsStatusAndMessage) {
  struct Row {
    absl::StatusCode code;
    int http_status;
    const char* id;
  };
  for (const Row& row : {Row{absl::StatusCode::kInvalidArgument, 400, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kUnauthenticated, 401, "Base.1.16.NoValidSession"},
                         Row{absl::StatusCode::kPermissionDenied, 403, "Base.1.16.InsufficientPrivilege"},
                         Row{absl::StatusCode::kNotFound, 404, "Base.1.16.ResourceMissingAtURI"},
                         Row{absl::StatusCode::kFailedPrecondition, 412, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kOutOfRange, 400, "Base.1.16.QueryParameterOutOfRange"},
                         Row{absl::StatusCode::kUnimplemented, 501, "Base.1.16.QueryNotSupported"},
                         Row{absl::StatusCode::kResourceExhausted, 507, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kUnavailable, 503, "Base.1.16.GeneralError"}}) {
    const RedfishError error = RedfishErrorOf(absl::Status(row.code, "Do this."), "/x");
    EXPECT_EQ(error.http_status, row.http_status);
    EXPECT_EQ(error.document["error"]["code"], row.id);
    EXPECT_EQ(InfoOf(error)["MessageId"], row.id);
    EXPECT_EQ(error.document["error"]["message"], InfoOf(error)["Message"]);
  }
}

TEST(ErrorDocumentTest, AnAbsentResourceIsNamedAsItWasAskedFor) {
  const RedfishError error = RedfishErrorOf(absl::NotFoundError("of our own"), "/redfish/v1/Chassis/a%20\"b");
  EXPECT_EQ(InfoOf(error)["Message"], "The resource at the URI '/redfish/v1/Chassis/a%20\"b' was not found.");
  EXPECT_EQ(InfoOf(error)["MessageArgs"], nlohmann::json({"/redfish/v1/Chassis/a%20\"b"}));
  EXPECT_EQ(error.document.dump().find("of our own"), std::string::npos);
}

TEST(ErrorDocumentTest, TheStatusSaysWhatToDo) {
  EXPECT_EQ(InfoOf(RedfishErrorOf(absl::InvalidArgumentError("Give $top once."), "/x"))["Resolution"],
            "Give $top once.");
  EXPECT_NE(InfoOf(RedfishErrorOf(absl::UnauthenticatedError(""), "/x"))["Resolution"], "");
}

TEST(ErrorDocumentTest, AnErrorOfAQueryNamesTheParameter) {
  const RedfishError range =
      RedfishErrorOf(WithMessageArgs(absl::OutOfRangeError("Do this."), {"%2", "$levels", "1"}), "/x");
  EXPECT_EQ(InfoOf(range)["Message"], "The value '%2' for the query parameter $levels is out of range 1.");
  EXPECT_EQ(InfoOf(range)["MessageArgs"], nlohmann::json({"%2", "$levels", "1"}));
  EXPECT_EQ(InfoOf(range)["Resolution"], "Do this.");
  const RedfishError value = RedfishErrorOf(WithMessageArgs(absl::InvalidArgumentError("Do this."), {"$top"}), "/x");
  EXPECT_EQ(value.http_status, 400);
  EXPECT_EQ(InfoOf(value)["MessageId"], "Base.1.16.QueryParameterValueError");
  EXPECT_EQ(InfoOf(value)["Message"], "The value for the parameter $top is invalid.");
  EXPECT_EQ(InfoOf(value)["MessageArgs"], nlohmann::json::array({"$top"}));
}

TEST(ErrorDocumentTest, OtherMethods) {
  EXPECT_EQ(RedfishMethodError().http_status, 405);
  EXPECT_EQ(InfoOf(RedfishMethodError())["MessageId"], "Base.1.16.OperationNotAllowed");
}

}  // namespace
}  // namespace sideband::daemon
