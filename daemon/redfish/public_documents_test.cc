// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/public_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;

nlohmann::json Get(absl::string_view target) {
  return nlohmann::json::parse(PublicDocument(*ParseRedfishTarget(target))->text);
}

TEST(PublicDocumentsTest, FourArePublic) {
  for (const char* target : {"/redfish", "/redfish/", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata",
                             "/redfish/v1/$metadata", "/redfish/v1/%24metadata"}) {
    EXPECT_TRUE(IsPublic(*ParseRedfishTarget(target))) << target;
  }
  for (const char* target : {"/", "/redfish/v2", "/redfish/v1/Chassis", "/redfish/v1/odata/x", "/redfish//v1"}) {
    EXPECT_FALSE(IsPublic(*ParseRedfishTarget(target))) << target;
  }
}

TEST(PublicDocumentsTest, TheRootHasWhatItsSchemaDemands) {
  EXPECT_EQ(Get("/redfish"), nlohmann::json({{"v1", "/redfish/v1/"}}));
  const nlohmann::json root = Get("/redfish/v1/");
  EXPECT_EQ(root, Get("/redfish/v1"));
  EXPECT_EQ(root["@odata.id"], "/redfish/v1/");
  for (const char* name : {"@odata.type", "Id", "Name", "RedfishVersion"}) EXPECT_TRUE(root[name].is_string()) << name;
  EXPECT_EQ(root["Links"]["Sessions"]["@odata.id"], "/redfish/v1/SessionService/Sessions");
  EXPECT_EQ(root["ProtocolFeaturesSupported"]["TopSkipQuery"], true);
  EXPECT_EQ(
      root["ProtocolFeaturesSupported"]["ExpandQuery"],
      nlohmann::json({{"ExpandAll", true}, {"Levels", true}, {"Links", true}, {"NoLinks", true}, {"MaxLevels", 1}}));
  for (const char* name : {"ExcerptQuery", "FilterQuery", "OnlyMemberQuery", "SelectQuery"}) {
    EXPECT_EQ(root["ProtocolFeaturesSupported"][name], false) << name;
  }
}

TEST(PublicDocumentsTest, TheServiceDocumentListsTheRootsLinks) {
  const nlohmann::json document = Get("/redfish/v1/odata");
  EXPECT_EQ(document["@odata.context"], "/redfish/v1/$metadata");
  std::vector<std::string> uris;
  for (const auto& entry : document["value"]) uris.push_back(entry["url"]);
  const nlohmann::json root = Get("/redfish/v1/");
  for (const auto& [name, value] : root.items()) {
    if (!value.is_object() || !value.contains("@odata.id")) continue;
    EXPECT_THAT(uris, testing::Contains(value["@odata.id"]));
  }
}

TEST(PublicDocumentsTest, MetadataIsXml) {
  const auto document = PublicDocument(*ParseRedfishTarget("/redfish/v1/$metadata"));
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->content_type, "application/xml; charset=utf-8");
  EXPECT_EQ(document->schema, "");
  EXPECT_THAT(document->text, HasSubstr("Uri=\"http://redfish.dmtf.org/schemas/v1/Sensor_v1.xml\""));
  EXPECT_THAT(document->text, HasSubstr("<edmx:Include Namespace=\"Sensor.v1_7_0\"/>"));
  EXPECT_THAT(document->text, HasSubstr("Uri=\"http://redfish.dmtf.org/schemas/v1/SensorCollection_v1.xml\""));
  EXPECT_THAT(document->text, HasSubstr("<edmx:Include Namespace=\"RedfishExtensions.v1_0_0\" Alias=\"Redfish\"/>"));
  EXPECT_THAT(document->text, HasSubstr("Uri=\"/redfish/v1/Schemas/SidebandTelemetry_v1.xml\""));
  EXPECT_THAT(document->text, HasSubstr("<edmx:Include Namespace=\"SidebandTelemetry.v1_0_0\"/>"));
}

TEST(PublicDocumentsTest, TheRootHasNoQueries) {
  EXPECT_TRUE(absl::IsUnimplemented(PublicDocument(*ParseRedfishTarget("/redfish/v1/?$expand=.")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PublicDocument(*ParseRedfishTarget("/redfish/v1/?$top=1")).status()));
  EXPECT_TRUE(PublicDocument(*ParseRedfishTarget("/redfish/v1/?x=1")).ok());
}

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
