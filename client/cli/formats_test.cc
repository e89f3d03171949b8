// SPDX-License-Identifier: Apache-2.0
#include "client/cli/formats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {
namespace {

// RFC 4180, section 2.
TEST(CsvLineTest, QuotesWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "", "1 2", "x=1"}), "a,,1 2,x=1\r\n");
  EXPECT_EQ(CsvLine({"a,b", "say \"hi\""}), "\"a,b\",\"say \"\"hi\"\"\"\r\n");
}

TEST(CsvLineTest, TerminalsAndSpreadsheetsEvaluateNothing) {
  EXPECT_EQ(CsvLine({"\x1b[2Jgpu0", "a\rb", "two\nlines", "\t=1"}), "\\x1b[2Jgpu0,a\\x0db,two\\x0alines,\\x09=1\r\n");
  EXPECT_EQ(CsvLine({"a\xE2\x80\xAEz", "\xE2\x81\xA6"}), "a\\xe2\\x80\\xaez,\\xe2\\x81\\xa6\r\n");
  EXPECT_EQ(CsvLine({"=1+1", "+a", "-a", "@SUM(A1)", "=\"x\",1"}), "'=1+1,'+a,'-a,'@SUM(A1),\"'=\"\"x\"\",1\"\r\n");
  EXPECT_EQ(CsvLine({"-1", "+2.5", "-1e-9", "-inf", "-1-1"}), "-1,+2.5,-1e-9,-inf,'-1-1\r\n") << "numbers are numbers";
}

TEST(CsvNumberTest, ReadsBackAsTheSame) {
  EXPECT_EQ(CsvNumber(1234.56), "1234.56");
  EXPECT_EQ(CsvNumber(0.1), "0.1");
  EXPECT_EQ(CsvNumber(4'600'000'001), "4600000001");
}

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
