// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/redfish_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sideband::daemon {
namespace {

using testing::Contains;
using testing::Pair;

TEST(RedfishResponseTest, EitherFieldHasTheToken) {
  struct Row {
    std::optional<std::string> authorization, session, token;
  };
  for (const Row& row : {Row{std::nullopt, std::nullopt, std::nullopt}, Row{"a", std::nullopt, "a"},
                         Row{std::nullopt, "a", "a"}, Row{"a", "a", "a"}, Row{"a", "b", ""}, Row{"a", "", ""},
                         // Another scheme than Bearer is an empty token already.
                         Row{"", "a", ""}}) {
    EXPECT_EQ(BearerTokenOf({.session_token = row.session, .credentials = {.bearer_token = row.authorization}}),
              row.token);
  }
}

TEST(RedfishResponseTest, ADocument) {
  const HttpResponse response =
      RedfishResponse(RedfishDocument{"application/json", "{}", "http://x/y.json"}, "/redfish/v1");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body.ToString(), "{}");
  EXPECT_THAT(response.fields, Contains(Pair("OData-Version", "4.0")));
  EXPECT_THAT(response.fields, Contains(Pair("Allow", "GET, HEAD")));
  EXPECT_THAT(response.fields, Contains(Pair("Link", "<http://x/y.json>; rel=describedby")));
}

TEST(RedfishResponseTest, AnError) {
  const HttpResponse response = RedfishResponse(absl::NotFoundError(""), "/redfish/v1/\xFF");
  EXPECT_EQ(response.status, 404);
  const auto body = nlohmann::json::parse(response.body.ToString());
  EXPECT_EQ(body["error"]["code"], "Base.1.16.ResourceMissingAtURI");
  EXPECT_THAT(response.fields, Contains(Pair("OData-Version", "4.0")));
}

TEST(RedfishResponseTest, OtherVersionsOfODataAreRefused) {
  const RedfishDocument document = {"application/json", "{}", ""};
  EXPECT_TRUE(CheckedVersion({}, document).ok());
  EXPECT_TRUE(CheckedVersion({.odata_version = "4.0"}, document).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckedVersion({.odata_version = "4.01"}, document).status()));
  EXPECT_EQ(RedfishResponse(CheckedVersion({.odata_version = "3.0"}, document), "/").status, 412);
}

TEST(RedfishResponseTest, OtherMethods) { EXPECT_EQ(RedfishMethodResponse().status, 405); }

}  // namespace
}  // namespace sideband::daemon
