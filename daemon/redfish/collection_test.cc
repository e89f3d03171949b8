// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/collection.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

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
