// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/public_documents.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/redfish/document.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

RedfishDocument Versions() { return DocumentOf({{"v1", kServiceRootUri}}); }

nlohmann::json Features() {
  // Collections alone can be expanded.
  const nlohmann::json expand = {
      {"ExpandAll", true}, {"Levels", true}, {"Links", true}, {"NoLinks", true}, {"MaxLevels", 1}};
  return {{"ExcerptQuery", false},    {"ExpandQuery", expand}, {"FilterQuery", false},
          {"OnlyMemberQuery", false}, {"SelectQuery", false},  {"TopSkipQuery", true}};
}

RedfishDocument ServiceRoot() {
  return DocumentOf({{"@odata.id", kServiceRootUri},
                     {"@odata.type", "#ServiceRoot.v1_17_0.ServiceRoot"},
                     {"Id", "RootService"},
                     {"Name", "Root Service"},
                     {"Product", "Sideband"},
                     {"RedfishVersion", "1.15.0"},
                     {"ProtocolFeaturesSupported", Features()},
                     {"Chassis", LinkTo(kChassisUri)},
                     {"JsonSchemas", LinkTo(kJsonSchemasUri)},
                     {"SessionService", LinkTo(kSessionServiceUri)},
                     {"Systems", LinkTo(kSystemsUri)},
                     {"TelemetryService", LinkTo(kTelemetryServiceUri)},
                     {"Links", {{"Sessions", LinkTo(kSessionsUri)}}}});
}

// OData's list of what is at the root (DSP0266, "OData service document").
RedfishDocument ServiceDocument() {
  nlohmann::json entries = nlohmann::json::array();
  const auto add = [&](const char* name, const char* uri) {
    entries.push_back({{"name", name}, {"kind", "Singleton"}, {"url", uri}});
  };
  add("Service", kServiceRootUri);
  add("Chassis", kChassisUri);
  add("JsonSchemas", kJsonSchemasUri);
  add("SessionService", kSessionServiceUri);
  add("Systems", kSystemsUri);
  add("TelemetryService", kTelemetryServiceUri);
  add("Sessions", kSessionsUri);
  return DocumentOf({{"@odata.context", "/redfish/v1/$metadata"}, {"value", std::move(entries)}});
}

struct SchemaRow {
  const char* schema;
  const char* versioned;  // nullptr: it has no versions
};

// The schema of every type that an answer has.
constexpr SchemaRow kSchemas[] = {
    {"ServiceRoot", "v1_17_0"},
    {"ChassisCollection", nullptr},
    {"Chassis", "v1_15_0"},
    {"EnvironmentMetrics", "v1_3_0"},
    {"SensorCollection", nullptr},
    {"Sensor", "v1_7_0"},
    {"JsonSchemaFileCollection", nullptr},
    {"JsonSchemaFile", "v1_1_4"},
    {"ComputerSystemCollection", nullptr},
    {"ComputerSystem", "v1_17_0"},
    {"ProcessorCollection", nullptr},
    {"Processor", "v1_16_0"},
    {"ProcessorMetrics", "v1_4_0"},
    {"SessionService", "v1_1_8"},
    {"SessionCollection", nullptr},
    {"TelemetryService", "v1_3_0"},
    {"MetricDefinitionCollection", nullptr},
    {"MetricDefinition", "v1_3_0"},
    {"MetricReportDefinitionCollection", nullptr},
    {"MetricReportDefinition", "v1_4_0"},
    {"MetricReportCollection", nullptr},
    {"MetricReport", "v1_5_0"},
    {"Message", "v1_1_1"},
};

// `version` is empty for a schema that has none.
std::string Reference(const std::string& uri, absl::string_view schema, absl::string_view version) {
  std::string text =
      absl::StrCat("  <edmx:Reference Uri=\"", uri, "\">\n    <edmx:Include Namespace=\"", schema, "\"/>\n");
  if (!version.empty()) absl::StrAppend(&text, "    <edmx:Include Namespace=\"", version, "\"/>\n");
  return text + "  </edmx:Reference>\n";
}

std::string ReferenceTo(const SchemaRow& row) {
  return Reference(absl::StrCat("http://redfish.dmtf.org/schemas/v1/", row.schema, "_v1.xml"), row.schema,
                   row.versioned == nullptr ? "" : absl::StrCat(row.schema, ".", row.versioned));
}

constexpr char kMetadataBegin[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:Reference Uri="http://docs.oasis-open.org/odata/odata/v4.0/errata03/csd01/complete/vocabularies/Org.OData.Core.V1.xml">
    <edmx:Include Namespace="Org.OData.Core.V1" Alias="OData"/>
  </edmx:Reference>
  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/RedfishExtensions_v1.xml">
    <edmx:Include Namespace="RedfishExtensions.v1_0_0" Alias="Redfish"/>
  </edmx:Reference>
)";

constexpr char kMetadataEnd[] = R"(  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_17_0.ServiceContainer"/>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
)";

RedfishDocument Metadata() {
  std::string text = kMetadataBegin;
  for (const SchemaRow& row : kSchemas) text += ReferenceTo(row);
  // The types of "Oem": {"Sideband": …}.
  text += Reference(kOemCsdlUri, kOemNamespace, kOemVersion);
  text += kMetadataEnd;
  return {.content_type = kRedfishXmlType, .text = std::move(text)};
}

struct PublicRow {
  std::vector<std::string> segments;
  RedfishDocument (*make)();
};

const PublicRow* Find(const RedfishTarget& target) {
  static const auto* const rows = new std::vector<PublicRow>{{{"redfish"}, Versions},
                                                             {{"redfish", "v1"}, ServiceRoot},
                                                             {{"redfish", "v1", "odata"}, ServiceDocument},
                                                             {{"redfish", "v1", "$metadata"}, Metadata}};
  const auto found = std::ranges::find(*rows, target.segments, &PublicRow::segments);
  return found == rows->end() ? nullptr : &*found;
}

constexpr char kDmtf[] = "http://redfish.dmtf.org/schemas/v1/";

// A type of CSDL as JSON schema has it.
struct TypeRow {
  absl::string_view csdl;
  const char* json;
  const char* format = nullptr;
};
constexpr TypeRow kTypes[] = {
    {"Edm.String", "string"},
    {"Edm.Int64", "integer"},
    {"Edm.Double", "number"},
    {"Edm.DateTimeOffset", "string", "date-time"},
};
constexpr absl::string_view kStrings = "Collection(Edm.String)", kLabels = "SidebandTelemetry.v1_0_0.Labels";

// Descriptions are plain text: they stand in attributes of XML as they are.
struct PropertyRow {
  const char* name;
  absl::string_view type;
  const char* description;
};
constexpr PropertyRow kSensorValue[] = {
    {"Device", "Edm.String", "The name of the device whose board has the sensor."},
    {"Labels", kLabels, "What tells the sensor from others of the same metric, by the names of its labels."},
    {"Created", "Edm.DateTimeOffset", "The time at which the sensor's count began."},
};
constexpr PropertyRow kCounterValue[] = {
    {"Device", "Edm.String", "The name of the device that counted."},
    {"Slice", "Edm.Int64", "The slice of the device."},
    {"Vm", "Edm.String", "The name of the VM; absent from counts of the device and of the host."},
    {"VmUuid", "Edm.String", "The UUID of the VM."},
    {"Context", "Edm.String", "The name of the context; absent from counts of the whole VM."},
    {"Generation", "Edm.Int64", "Another one means that the count began again."},
    {"Flags", kStrings, "Why the count may be inexact."},
    {"Coverage", "Edm.Double", "The share of the time in which the event was counted, from 0 to 1."},
    {"StandardError", "Edm.String", "The standard error of an estimate; an integer as text."},
    {"LowerBound", "Edm.String", "What the count is at least; an integer as text."},
    {"UpperBound", "Edm.String", "What the count is at most; an integer as text."},
};
constexpr PropertyRow kDefinition[] = {
    {"Metric", "Edm.String", "The name of the metric in Prometheus' formats, whose labels the values have."},
};

struct ObjectRow {
  const char* name;
  const char* description;
  std::span<const PropertyRow> properties;
};
constexpr ObjectRow kObjects[] = {
    {"SensorValue", "What identifies a sensor's value in a metric report.", kSensorValue},
    {"CounterValue", "Whose count a value in a metric report is, and how exact.", kCounterValue},
    {"Definition", "The metric that a metric definition is of.", kDefinition},
};

std::string CsdlNotes(absl::string_view indent, const char* description) {
  return absl::StrCat(indent, "<Annotation Term=\"OData.Description\" String=\"", description, "\"/>\n", indent,
                      "<Annotation Term=\"OData.LongDescription\" String=\"", description, "\"/>\n");
}

std::string CsdlProperty(const PropertyRow& row) {
  constexpr char kIndent[] = "          ";
  return absl::StrCat("        <Property Name=\"", row.name, "\" Type=\"", row.type, "\" Nullable=\"false\">\n",
                      kIndent, "<Annotation Term=\"OData.Permissions\" EnumMember=\"OData.Permission/Read\"/>\n",
                      CsdlNotes(kIndent, row.description), "        </Property>\n");
}

std::string CsdlObject(const ObjectRow& row) {
  std::string text =
      absl::StrCat("      <ComplexType Name=\"", row.name, "\" BaseType=\"", kOemNamespace, ".", kOemNamespace,
                   "\">\n        <Annotation Term=\"OData.AdditionalProperties\" "
                   "Bool=\"false\"/>\n",
                   CsdlNotes("        ", row.description));
  for (const PropertyRow& property : row.properties) text += CsdlProperty(property);
  return text + "      </ComplexType>\n";
}

constexpr char kCsdlBegin[] = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:Reference Uri="http://docs.oasis-open.org/odata/odata/v4.0/errata03/csd01/complete/vocabularies/Org.OData.Core.V1.xml">
    <edmx:Include Namespace="Org.OData.Core.V1" Alias="OData"/>
  </edmx:Reference>
  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/RedfishExtensions_v1.xml">
    <edmx:Include Namespace="RedfishExtensions.v1_0_0" Alias="Redfish"/>
  </edmx:Reference>
  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/Resource_v1.xml">
    <edmx:Include Namespace="Resource"/>
  </edmx:Reference>
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="SidebandTelemetry">
      <Annotation Term="Redfish.OwningEntity" String="Sideband"/>
      <ComplexType Name="SidebandTelemetry" BaseType="Resource.OemObject" Abstract="true"/>
    </Schema>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="SidebandTelemetry.v1_0_0">
      <Annotation Term="Redfish.OwningEntity" String="Sideband"/>
      <ComplexType Name="Labels">
        <Annotation Term="OData.AdditionalProperties" Bool="false"/>
        <Annotation Term="OData.Description" String="Values of labels, by their names."/>
        <Annotation Term="OData.LongDescription" String="Values of labels, by their names."/>
        <Annotation Term="Redfish.DynamicPropertyPatterns">
          <Collection>
            <Record>
              <PropertyValue Property="Pattern" String="^[a-z_]+$"/>
              <PropertyValue Property="Type" String="Edm.String"/>
            </Record>
          </Collection>
        </Annotation>
      </ComplexType>
)xml";
constexpr char kCsdlEnd[] = R"(    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
)";

nlohmann::json JsonProperty(const PropertyRow& row) {
  nlohmann::json property = {{"description", row.description}, {"readonly", true}};
  if (row.type == kLabels) {
    property["$ref"] = "#/definitions/Labels";
  } else if (row.type == kStrings) {
    property["type"] = "array";
    property["items"]["type"] = "string";
  } else {
    const TypeRow& type = *std::ranges::find(kTypes, row.type, &TypeRow::csdl);
    property["type"] = type.json;
    if (type.format != nullptr) property["format"] = type.format;
  }
  return property;
}

nlohmann::json JsonObject(const ObjectRow& row) {
  nlohmann::json object = {{"type", "object"}, {"additionalProperties", false}, {"description", row.description}};
  // Such as @odata.type.
  object["patternProperties"]["^([a-zA-Z_][a-zA-Z0-9_]*)?@(odata|Redfish|Message)\\.[a-zA-Z_][a-zA-Z0-9_]*$"] =
      nlohmann::json::object();
  for (const PropertyRow& property : row.properties) object["properties"][property.name] = JsonProperty(property);
  return object;
}

}  // namespace

bool IsPublic(const RedfishTarget& target) { return Find(target) != nullptr; }

absl::StatusOr<RedfishDocument> PublicDocument(const RedfishTarget& target) {
  SIDEBAND_RETURN_IF_ERROR(PageOf(target, /*is_collection=*/false).status());
  return Find(target)->make();
}

std::string OemCsdl() {
  std::string text = kCsdlBegin;
  for (const ObjectRow& row : kObjects) text += CsdlObject(row);
  return text + kCsdlEnd;
}

nlohmann::json OemJsonSchema() {
  nlohmann::json schema = {{"$id", kOemJsonSchemaUri},
                           {"$schema", absl::StrCat(kDmtf, "redfish-schema-v1.json")},
                           {"title", absl::StrCat("#", kOemVersion)},
                           {"owningEntity", "Sideband"}};
  for (const ObjectRow& row : kObjects) schema["definitions"][row.name] = JsonObject(row);
  nlohmann::json& labels = schema["definitions"]["Labels"];
  labels = {{"type", "object"}, {"additionalProperties", false}, {"description", "Values of labels, by their names."}};
  labels["patternProperties"]["^[a-z_]+$"]["type"] = "string";
  return schema;
}

nlohmann::json JsonSchemaFileJson() {
  nlohmann::json file = {{"@odata.id", MemberUri(kJsonSchemasUri, kOemVersion)},
                         {"@odata.type", "#JsonSchemaFile.v1_1_4.JsonSchemaFile"},
                         {"Id", kOemVersion},
                         {"Name", "Schema of Oem.Sideband"},
                         {"Schema", absl::StrCat("#", kOemNamespace, ".", kOemNamespace)},
                         {"Languages", {"en"}}};
  file["Location"].push_back({{"Language", "en"}, {"Uri", kOemJsonSchemaUri}});
  return file;
}

}  // namespace sideband::daemon
