// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/public_documents.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/collection.h"
#include "daemon/redfish/identifiers.h"
#include "daemon/redfish/oem_schema.h"
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

// Of every type that an answer has.
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

}  // namespace

bool IsPublic(const RedfishTarget& target) { return Find(target) != nullptr; }

absl::StatusOr<RedfishDocument> PublicDocument(const RedfishTarget& target) {
  SIDEBAND_RETURN_IF_ERROR(PageOf(target, /*is_collection=*/false).status());
  return Find(target)->make();
}

}  // namespace sideband::daemon
