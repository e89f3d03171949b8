// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/oem_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;

TEST(OemSchemaTest, BothFormsHaveTheSameProperties) {
  const std::string csdl = OemCsdl();
  const nlohmann::json schema = OemJsonSchema();
  size_t properties = 0;
  for (const auto& [name, definition] : schema["definitions"].items()) {
    EXPECT_THAT(csdl, HasSubstr(absl::StrCat("<ComplexType Name=\"", name, "\"")));
    EXPECT_EQ(definition["additionalProperties"], false) << name;
    if (!definition.contains("properties")) continue;
    for (const auto& [property, type] : definition["properties"].items()) {
      EXPECT_THAT(csdl, HasSubstr(absl::StrCat("<Property Name=\"", property, "\" Type=\""))) << name;
      EXPECT_TRUE(type.contains("type") || type.contains("$ref")) << property;
      ++properties;
    }
  }
  size_t in_csdl = 0;
  for (size_t at = csdl.find("<Property "); at != std::string::npos; at = csdl.find("<Property ", at + 1)) ++in_csdl;
  EXPECT_EQ(in_csdl, properties);
  EXPECT_EQ(properties, 15u);
}

TEST(OemSchemaTest, Types) {
  const auto definitions = OemJsonSchema()["definitions"];
  const auto& counter = definitions["CounterValue"]["properties"];
  EXPECT_EQ(counter["Slice"]["type"], "integer");
  EXPECT_EQ(counter["Coverage"]["type"], "number");
  EXPECT_EQ(counter["Flags"]["items"]["type"], "string");
  EXPECT_EQ(definitions["SensorValue"]["properties"]["Created"]["format"], "date-time");
  EXPECT_EQ(definitions["SensorValue"]["properties"]["Labels"]["$ref"], "#/definitions/Labels");
  EXPECT_EQ(definitions["Labels"]["patternProperties"]["^[a-z_]+$"]["type"], "string");
  EXPECT_THAT(OemCsdl(), HasSubstr("<Property Name=\"Labels\" Type=\"SidebandTelemetry.v1_0_0.Labels\""));
}

TEST(OemSchemaTest, TheFileSaysWhereItIs) {
  EXPECT_EQ(
      JsonSchemaFileJson(),
      nlohmann::json({{"@odata.id", "/redfish/v1/JsonSchemas/SidebandTelemetry.v1_0_0"},
                      {"@odata.type", "#JsonSchemaFile.v1_1_4.JsonSchemaFile"},
                      {"Id", "SidebandTelemetry.v1_0_0"},
                      {"Name", "Schema of Oem.Sideband"},
                      {"Schema", "#SidebandTelemetry.SidebandTelemetry"},
                      {"Languages", {"en"}},
                      {"Location", nlohmann::json::array({{{"Language", "en"}, {"Uri", OemJsonSchema()["$id"]}}})}}));
}

}  // namespace
}  // namespace sideband::daemon
