// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/public_documents.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/redfish/collection.h"
#include "daemon/redfish/identifiers.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

RedfishDocument Versions() { return DocumentOf({{"v1", kServiceRootUri}}); }

nlohmann::json Features() {
  // Of collections.
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

std::string ReferenceTo(const SchemaRow& row) {
  const std::string versions = row.versioned == nullptr ? ""
                                                        : absl::StrCat("    <edmx:Include Namespace=\"", row.schema,
                                                                       ".", row.versioned, "\"/>\n");
  return absl::StrCat("  <edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/", row.schema,
                      row.versioned == nullptr ? "" : "_v1", ".xml\">\n    <edmx:Include Namespace=\"", row.schema,
                      "\"/>\n", versions, "  </edmx:Reference>\n");
}

constexpr char kMetadataBegin[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:Reference Uri="http://docs.oasis-open.org/odata/odata/v4.0/errata03/csd01/complete/vocabularies/Org.OData.Core.V1.xml">
    <edmx:Include Namespace="Org.OData.Core.V1" Alias="OData"/>
  </edmx:Reference>
)";

// With the types of "Oem": {"Sideband": …}, which are this service's own.
constexpr char kMetadataEnd[] = R"xml(  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_17_0.ServiceContainer"/>
    </Schema>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="SidebandTelemetry.v1_0_0">
      <ComplexType Name="Labels" OpenType="true"/>
      <ComplexType Name="SensorValue">
        <Property Name="Device" Type="Edm.String"/>
        <Property Name="Labels" Type="SidebandTelemetry.v1_0_0.Labels"/>
        <Property Name="Created" Type="Edm.DateTimeOffset"/>
      </ComplexType>
      <ComplexType Name="CounterValue">
        <Property Name="Device" Type="Edm.String"/>
        <Property Name="Slice" Type="Edm.Int64"/>
        <Property Name="Vm" Type="Edm.String"/>
        <Property Name="VmUuid" Type="Edm.String"/>
        <Property Name="Context" Type="Edm.String"/>
        <Property Name="Generation" Type="Edm.Int64"/>
        <Property Name="Flags" Type="Collection(Edm.String)"/>
        <Property Name="Coverage" Type="Edm.Double"/>
        <Property Name="StandardError" Type="Edm.String"/>
        <Property Name="LowerBound" Type="Edm.String"/>
        <Property Name="UpperBound" Type="Edm.String"/>
      </ComplexType>
      <ComplexType Name="Definition">
        <Property Name="Metric" Type="Edm.String"/>
      </ComplexType>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
)xml";

RedfishDocument Metadata() {
  std::string text = kMetadataBegin;
  for (const SchemaRow& row : kSchemas) text += ReferenceTo(row);
  text += kMetadataEnd;
  return {.content_type = "application/xml; charset=utf-8", .text = std::move(text)};
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
