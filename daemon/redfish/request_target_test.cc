// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/request_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;
using testing::Pair;

absl::StatusOr<PageOptions> Page(absl::string_view query, bool is_collection = true) {
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
  EXPECT_EQ(Page("")->skip, 0u);
  EXPECT_EQ(Page("")->top, std::nullopt);
  EXPECT_EQ(Page("?$skip=2")->skip, 2u);
  EXPECT_EQ(Page("?$top=0")->top, 0u);
  EXPECT_EQ(Page("?$skip=999999999&$top=999999999")->top, 999'999'999u);
}

TEST(RequestTargetTest, BadNumbersAreRejected) {
  for (const char* query : {"?$top", "?$top=", "?$top=-1", "?$top=+1", "?$top=%201", "?$top=1.0", "?$top=x",
                            "?$skip=1000000000", "?$skip=4294967297", "?$top=1&$top=1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Page(query).status())) << query;
  }
}

TEST(RequestTargetTest, APageIsOfACollection) {
  EXPECT_TRUE(absl::IsInvalidArgument(Page("?$top=1", /*is_collection=*/false).status()));
  EXPECT_TRUE(Page("?only", /*is_collection=*/false).ok());
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
    EXPECT_EQ(Page(row.query)->expand, row.expand) << row.query;
    EXPECT_EQ(Page(row.query)->expands_members(), row.expands_members) << row.query;
  }
  EXPECT_TRUE(absl::IsUnimplemented(Page("?$expand=.", /*is_collection=*/false).status()));
}

TEST(RequestTargetTest, OtherExpansionsAreRejected) {
  for (const char* query :
       {"?$expand", "?$expand=", "?$expand=x", "?$expand=..", "?$expand=.*", "?$expand=.()", "?$expand=.($levels)",
        "?$expand=.($levels=)", "?$expand=.($levels=-1)", "?$expand=.($levels=1", "?$expand=.($levels=1))",
        "?$expand=.($levels=1)x", "?$expand=.($level=1)", "?$expand=Members", "?$expand=.&$expand=."}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Page(query).status())) << query;
  }
  for (const char* levels : {"0", "2", "01", "99999999999999999999"}) {
    EXPECT_TRUE(absl::IsOutOfRange(Page(absl::StrCat("?$expand=.($levels=", levels, ")")).status())) << levels;
  }
}

TEST(RequestTargetTest, OtherOptionsAreNotImplementedIfTheyBeginWithADollar) {
  for (const char* query : {"?$filter=x", "?$select=Name", "?$", "?%24count"}) {
    EXPECT_TRUE(absl::IsUnimplemented(Page(query).status())) << query;
  }
  EXPECT_EQ(Page("?$top=1&$filter=x").status().message(), "Remove the query parameter $filter.");
  EXPECT_TRUE(Page("?only&excerpt&x=$expand").ok()) << "others are ignored";
}

}  // namespace
}  // namespace sideband::daemon
