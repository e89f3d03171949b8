// SPDX-License-Identifier: Apache-2.0
#include "client/cli/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

TEST(JsonTest, BootIdsAreHexadecimal) {
  v1::ListDevicesResponse response;
  response.add_devices()->set_boot_id(0xb007);
  response.add_devices()->set_boot_id(18446744073709551615u);
  for (const std::string& text : {ToJson(response), ToJsonLine(response)}) {
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["devices"][0]["boot_id"], "000000000000b007");
    EXPECT_EQ(json["devices"][1]["boot_id"], "ffffffffffffffff");
    EXPECT_EQ(json["devices"][1]["reference_clock_hz"], "0") << "other numbers are decimal";
  }
}

TEST(JsonTest, NamesThatLookLikeKeysStayWhatTheyAre) {
  v1::ListDevicesResponse response;
  for (const char* name : {"\"boot_id\": \"12\"", "boot_id", "boot_id\":"}) response.add_devices()->set_name(name);
  const auto json = nlohmann::json::parse(ToJson(response));
  EXPECT_EQ(json["devices"][0]["name"], "\"boot_id\": \"12\"");
  EXPECT_EQ(json["devices"][1]["name"], "boot_id");
  EXPECT_EQ(json["devices"][2]["name"], "boot_id\":");
}

}  // namespace
}  // namespace sideband::client
