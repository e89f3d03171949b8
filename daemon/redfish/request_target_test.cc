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

TEST(RequestTargetTest, OtherOptionsAreNotImplementedIfTheyBeginWithADollar) {
  for (const char* query : {"?$expand=.", "?$filter=x", "?$select=Name", "?$", "?%24count"}) {
    EXPECT_TRUE(absl::IsUnimplemented(Page(query).status())) << query;
  }
  EXPECT_TRUE(Page("?only&excerpt&x=$expand").ok()) << "others are ignored";
}

}  // namespace
}  // namespace sideband::daemon
