// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Lines(const BmcValues& values) {
  std::vector<std::string> lines;
  for (const BmcValue& value : values.values) lines.push_back(absl::StrCat(value.property, "=", value.text));
  return lines;
}

TEST(BmcReportTest, HasTheValuesOfItsElements) {
  const auto report = ParseReport(R"({"Id": "R", "Timestamp": "2026-06-29T08:05:27.513+00:00", "MetricValues": [
      {"MetricProperty": "/a", "MetricValue": "1.5", "Timestamp": "2026-06-29T08:05:27+00:00", "Oem": {"Stale": true}},
      {"MetricProperty": "/b#/c", "MetricValue": 7}]})");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(Lines(*report), ElementsAre("/a=1.5", "/b#/c=7"));
  EXPECT_EQ(report->time, absl::FromUnixMillis(1782720327513));
  EXPECT_EQ(report->values[0].time, absl::FromUnixSeconds(1782720327));
  EXPECT_EQ(report->values[1].time, std::nullopt);
}

TEST(BmcReportTest, LeavesOutElementsThatMakeNoSense) {
  const auto report = ParseReport(R"({"MetricValues": [
      {"MetricValue": "1"}, {"MetricProperty": "/a"}, {"MetricProperty": "/b", "MetricValue": 1, "MetricValue": 2},
      7, null, [], {"MetricProperty": {"x": 1}, "MetricValue": 3}, {"MetricProperty": "/c", "MetricValue": null}]})");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(Lines(*report), ElementsAre("/c="));
}

TEST(BmcReportTest, OtherShapesHaveNoValues) {
  for (const char* const body : {"{}", "[]", "7", R"({"MetricValues": null})", R"({"MetricValues": {"a": 1}})"}) {
    const auto report = ParseReport(body);
    ASSERT_TRUE(report.ok()) << body << report.status();
    EXPECT_TRUE(report->values.empty()) << body;
  }
}

TEST(BmcReportTest, RefusesWhatIsNoJson) {
  for (const std::string body : {"", "<html>", "{\"a\": 1", "{\"a\": \"\xff\"}", "{} x"}) {
    EXPECT_THAT(std::string(ParseReport(body).status().message()), HasSubstr("the answer is no JSON at byte ")) << body;
  }
}

TEST(BmcReportTest, HasBounds) {
  const std::string deep = std::string(kDepthMax + 1, '[') + std::string(kDepthMax + 1, ']');
  EXPECT_EQ(ParseReport(deep).status().message(), "the answer is nested deeper than 64");
  EXPECT_TRUE(ParseReport(deep.substr(1, 2 * kDepthMax)).ok());
  std::string many = "[0";
  for (size_t i = 0; i < kLeavesMax; ++i) many += ",0";
  EXPECT_EQ(ParseReport(many + "]").status().message(), "the answer has more than 100000 values");
  EXPECT_EQ(ParseReport(absl::StrCat("{\"", std::string(kNameMax + 1, 'n'), "\": 1}")).status().message(),
            "the answer has a name of more than 256 bytes");
  std::string report = R"({"MetricValues": [{})";
  for (size_t i = 0; i <= kReportValuesMax; ++i) report += R"(,{"MetricProperty": "/a", "MetricValue": 1})";
  EXPECT_EQ(ParseReport(report + "]}")->values.size(), kReportValuesMax);
}

TEST(BmcReportTest, SaysThatItIsCut) {
  const std::string value = R"({"MetricProperty": "/a", "MetricValue": 1},)";
  std::string most = R"({"MetricValues": [)";
  for (size_t i = 0; i < kReportValuesMax; ++i) most += value;
  for (const auto& [more, is_cut] :
       {std::pair("", false), {"null, 7, {}, {\"MetricValue\": 1}, ", false}, {value.c_str(), true}}) {
    const auto report = ParseReport(absl::StrCat(most, more, R"({}]})"));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->is_cut, is_cut) << more;
    EXPECT_EQ(report->values.size(), kReportValuesMax);
  }
}

TEST(BmcResourceTest, HasAValueForEachMember) {
  const auto resource = ParseResource("/r", R"({"A": {"B": [1, {"C": true}], "D": null}, "E": -2.50, "F": "x"})");
  ASSERT_TRUE(resource.ok()) << resource.status();
  EXPECT_THAT(Lines(*resource), ElementsAre("/r#/A/B/0=1", "/r#/A/B/1/C=true", "/r#/A/D=", "/r#/E=-2.50", "/r#/F=x"));
  EXPECT_EQ(FindText(*resource, "/A/B/1/C"), "true");
  EXPECT_EQ(FindText(*resource, "/A"), std::nullopt);
}

TEST(BmcResourceTest, LeavesOutWhatIsTooDeep) {
  const auto named = [](size_t bytes, const std::string& value) {
    return absl::StrCat("{\"", std::string(bytes, 'n'), "\": ", value, "}");
  };
  // Each name takes a slash, too.
  const std::string at_most = named(kNameMax, named(kPointerMax - kNameMax - 2, "1"));
  const std::string longer = named(kNameMax, named(kPointerMax - kNameMax - 1, "1"));
  EXPECT_EQ(ParseResource("/r", at_most)->values.size(), 1u);
  EXPECT_EQ(ParseResource("/r", longer)->values.size(), 0u);

  // The most values, each below the most names: 1.6 GB of pointers.
  std::string deep = "[0";
  for (size_t i = 0; i < kLeavesMax - 3; ++i) deep += ",0";
  deep += "]";
  for (size_t i = 0; i < kDepthMax - 2; ++i) deep = named(kNameMax, deep);
  const auto resource = ParseResource("/r", absl::StrCat(R"({"A": 1, "B": )", deep, R"(, "C": 2})"));
  ASSERT_TRUE(resource.ok()) << resource.status();
  EXPECT_THAT(Lines(*resource), ElementsAre("/r#/A=1", "/r#/C=2"));
}

TEST(BmcResourceTest, HasTheTimeOfItsReading) {
  for (const auto& [members, time] : {
           std::pair(R"("ReadingTime": "2026-06-29T08:05:27Z", "Reading": 1)",
                     std::optional(absl::FromUnixSeconds(1782720327))),
           {R"("Reading": 1, "ReadingTime": "1971-01-01T00:00:00Z")", absl::FromUnixSeconds(365 * 86400)},
           {R"("ReadingTime": "1970-12-31T23:59:59Z")", std::nullopt},
           {R"("ReadingTime": "1970-01-01T00:00:00.000+00:00")", std::nullopt},
           {R"("ReadingTime": null)", std::nullopt},
           {R"("ReadingTime": 1782720327)", std::nullopt},
           {R"("Timestamp": "2026-06-29T08:05:27Z", "Peak": {"ReadingTime": "2026-06-29T08:05:27Z"})", std::nullopt},
           {R"("Reading": 1)", std::nullopt},
       }) {
    EXPECT_EQ(ParseResource("/r", absl::StrCat("{", members, "}"))->time, time) << members;
  }
}

TEST(BmcResourceTest, HasMembers) {
  const auto collection = ParseResource(
      "/c", R"({"@odata.id": "/c", "Members": [{"@odata.id": "/c/1"}, {"@odata.id": "/c/2"}, {"@odata.id": "/c/1"}]})");
  EXPECT_THAT(MembersOf(*collection), ElementsAre("/c/1", "/c/2"));
  EXPECT_TRUE(MembersOf(*ParseResource("/c", R"({"Members": null})")).empty());
}

TEST(BmcResourceTest, HasABoundOfMembers) {
  std::string many;
  for (size_t i = 0; i < kMembersMax + 2; ++i)
    absl::StrAppend(&many, i == 0 ? "" : ",", R"({"@odata.id": "/c/)", i, R"("})");
  const auto members = MembersOf(*ParseResource("/c", absl::StrCat(R"({"Members": [)", many, "]}")));
  EXPECT_EQ(members.size(), kMembersMax);
  EXPECT_EQ(members.back(), absl::StrCat("/c/", kMembersMax - 1));
}

TEST(BmcLinkTest, IsAPathOfTheSameOrigin) {
  EXPECT_EQ(PathOr("/redfish/v1/S?$skip=1", "/else"), "/redfish/v1/S?$skip=1");
  EXPECT_EQ(PathOr(std::string(1024, '/').replace(1, 1, "a"), "").size(), 1024u);
  for (const std::string link : {"", "redfish", "?$skip=1", "https://evil.example.org/s", "//evil.example.org/s",
                                 "/a b", "/a\r\nX: y", "/\xc3\xa4", "/\x7f"}) {
    EXPECT_EQ(PathOr(link, "/else"), "/else") << link;
  }
  EXPECT_EQ(PathOr("/" + std::string(1024, 'a'), "/else"), "/else");
  EXPECT_EQ(PathOr(std::nullopt, "/else"), "/else");
}

TEST(BmcLogTest, HasTheTextsWithXids) {
  const auto log = ParseLog(R"({"Members": [
      {"Created": "2026-06-29T08:05:27Z", "Id": "7", "Message": "Xid 79 'lost'.", "MessageArgs": ["", "[0][1] XID 79 lost"]},
      {"Created": "", "Id": "8", "Message": "Xid 13 from the message", "Oem": {"Id": "9"}},
      {"Id": "9", "Message": "nothing"}], "Members@odata.nextLink": "/next"})");
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_EQ(log->entries.size(), 3u);
  EXPECT_EQ(log->entries[0].id, "7");
  EXPECT_EQ(log->entries[0].text, "[0][1] XID 79 lost");
  EXPECT_EQ(log->entries[1].text, "Xid 13 from the message");
  EXPECT_EQ(log->entries[2].text, "");
  EXPECT_EQ(log->next_page, "/next");
  EXPECT_TRUE(ParseLog(R"({"Members": [], "Members@odata.count": 0})")->entries.empty());
}

TEST(BmcLogTest, KeysAreOfIdTimeAndText) {
  const auto key = [](const char* id, const char* created, const char* text) {
    return ParseLog(absl::StrCat(R"({"Members": [{"Id": ")", id, R"(", "Created": ")", created, R"(", "Message": ")",
                                 text, R"("}]})"))
        ->entries.at(0)
        .key;
  };
  const uint64_t one = key("1", "2026-06-29T08:05:27+00:00", "XID 1");
  EXPECT_EQ(key("1", "2026-06-29T02:05:27-0600", "XID 1"), one) << "one instant";
  EXPECT_NE(key("2", "2026-06-29T08:05:27+00:00", "XID 1"), one);
  EXPECT_NE(key("1", "2026-06-29T08:05:28+00:00", "XID 1"), one);
  EXPECT_NE(key("1", "2026-06-29T08:05:27+00:00", "XID 2"), one);
}

TEST(BmcLogTest, NeedsEntries) {
  EXPECT_EQ(ParseLog(R"({"Members": [{"@odata.id": "/log/1"}]})").status().message(),
            "the answer has entries without an Id");
  for (const char* const body : {"{}", "5", "null", "\"Members\"", "[]", "[5]"}) {
    EXPECT_EQ(ParseLog(body).status().message(), "the answer is no log") << body;
  }
}

TEST(BmcXidTextTest, HasTheTextThatFits) {
  const auto event = ParseXid("[1][2][3] XID 79 GPU has fallen off the bus.\n");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->xid, 79);
  EXPECT_EQ(event->text, "GPU has fallen off the bus.");
  const auto longer = ParseXid(absl::StrCat("XID 31 a\tb", std::string(100, 'x')));
  EXPECT_EQ(longer->text, absl::StrCat("a?b", std::string(76, 'x')));
  EXPECT_TRUE(longer->text_truncated);
  EXPECT_EQ(ParseXid("Xid event, oxid 5: XID 79 lost")->text, "lost");
  for (const char* const text : {"", "XID", "XID ", "XID x", "XID 65536", "XID -1", "79", "oxid 5"}) {
    EXPECT_EQ(ParseXid(text), std::nullopt) << text;
  }
}

TEST(BmcTimeTest, TakesOffsets) {
  for (const char* const text : {"2026-06-29T08:05:27+00:00", "2026-06-29T08:05:27Z", "2026-06-29T02:05:27-0600",
                                 "2026-06-29T10:05:27.000+02:00"}) {
    EXPECT_EQ(ParseBmcTime(text), absl::FromUnixSeconds(1782720327)) << text;
  }
  for (const char* const text : {"", "0000-00-00T00:00:00Z", "today", "2026-06-29"}) {
    EXPECT_EQ(ParseBmcTime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sideband::daemon
