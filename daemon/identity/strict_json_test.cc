// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/strict_json.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(StrictJsonTest, ReadsAnObject) {
  const auto object = ParseJsonObject(R"( {"a": "x", "b": {"a": [1, {"a": 2}]}} )");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(*FindString(*object, "a"), "x");
  EXPECT_EQ(FindString(*object, "b"), nullptr) << "no text";
  EXPECT_EQ(FindString(*object, "c"), nullptr) << "absent";
}

TEST(StrictJsonTest, RefusesWhateverReadersDisagreeOn) {
  const std::string deep(5000, '[');
  for (const std::string& text :
       {std::string(""), std::string("x"), std::string("[1]"), std::string("\"a\""), std::string("null"),
        std::string("{\"a\":1}x"), std::string("{\"a\":1,}"), std::string("{a:1}"), std::string("{\"a\":1e999}"),
        std::string("{\"a\":NaN}"), std::string("{\"a\":01}"), std::string("// x\n{}"), std::string("{\"a\":\"\xff\"}"),
        std::string("{\"a\":\"\\ud800\"}"), std::string("{\"a\":1}\0", 8), "{\"a\":" + deep}) {
    EXPECT_FALSE(ParseJsonObject(text).ok()) << text.substr(0, 20);
  }
}

TEST(StrictJsonTest, ANameTwiceIsRefusedAtAnyDepth) {
  EXPECT_EQ(ParseJsonObject(R"({"a":1,"a":1})").status().message(), "a name occurs twice");
  EXPECT_EQ(ParseJsonObject(R"({"a":1,"\u0061":2})").status().message(), "a name occurs twice") << "escaped";
  EXPECT_EQ(ParseJsonObject(R"({"b":[{"a":1,"c":{},"a":1}]})").status().message(), "a name occurs twice");
  EXPECT_TRUE(ParseJsonObject(R"({"a":{"a":1},"b":{"a":1}})").ok());
}

}  // namespace
}  // namespace sideband::daemon
