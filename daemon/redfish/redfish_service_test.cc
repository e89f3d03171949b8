// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/redfish_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "daemon/board/board_store.h"
#include "daemon/redfish/document.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using sideband::v1::Counter;
using sideband::v1::Event;
using sideband::v1::ScopeCounters;
using sideband::v1::Sensor;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string TextOfCount(uint64_t count, uint64_t per_unit) {
  Sensor sensor;
  sensor.set_name("sideband_energy_joules_total");
  sensor.set_count(count);
  sensor.set_count_per_unit(per_unit);
  return SensorMetricValue({}, sensor)["MetricValue"];
}

std::string TextOfValue(const char* family, double value) {
  Sensor sensor;
  sensor.set_name(family);
  sensor.set_value(value);
  return SensorMetricValue({}, sensor)["MetricValue"];
}

TEST(MetricValueTest, CountsAreExact) {
  EXPECT_EQ(TextOfCount(0, 1), "0");
  EXPECT_EQ(TextOfCount(std::numeric_limits<uint64_t>::max(), 1), "18446744073709551615");
  EXPECT_EQ(TextOfCount(std::numeric_limits<uint64_t>::max(), 1000), "18446744073709551.615");
  EXPECT_EQ(TextOfCount(9'007'199'254'740'993, 1000), "9007199254740.993");
  EXPECT_EQ(TextOfCount(1'000, 1000), "1");
  EXPECT_EQ(TextOfCount(1'010, 1000), "1.01");
  EXPECT_EQ(TextOfCount(9, 1000), "0.009");
}

TEST(MetricValueTest, Gauges) {
  EXPECT_EQ(TextOfValue("sideband_power_watts", 285.193), "285.193");
  EXPECT_EQ(TextOfValue("sideband_board_sm_activity_ratio", 0.07), "7");
  EXPECT_EQ(TextOfValue("sideband_power_watts", std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(TextOfValue("sideband_power_watts", std::numeric_limits<double>::infinity()), "null");
}

TEST(MetricValueTest, AValueOfASensor) {
  sideband::v1::DeviceSensors device;
  device.set_device("gpu0");
  auto& group = *device.add_groups();
  group.set_name("energy");
  group.mutable_host_time()->set_seconds(1'800'000'000);
  Sensor sensor;
  sensor.set_name("sideband_energy_joules_total");
  sensor.set_group("energy");
  sensor.set_count(1500);
  sensor.set_count_per_unit(1000);
  sensor.mutable_created()->set_seconds(0);
  auto& label = *sensor.add_labels();
  label.set_name("sensor");
  label.set_value("total");
  EXPECT_EQ(SensorMetricValue(device, sensor),
            nlohmann::json({{"MetricId", "energy"},
                            {"MetricValue", "1.5"},
                            {"MetricProperty", "/redfish/v1/Chassis/gpu0/Sensors/energy_total#/Reading"},
                            {"Timestamp", "2027-01-15T08:00:00.000Z"},
                            {"Oem",
                             {{"Sideband",
                               {{"@odata.type", "#SidebandTelemetry.v1_0_0.SensorValue"},
                                {"Device", "gpu0"},
                                {"Labels", {{"sensor", "total"}}},
                                {"Created", "1970-01-01T00:00:00.000Z"}}}}}}));
}

TEST(MetricValueTest, WithoutATypeOfReadingThereIsNoProperty) {
  Sensor sensor;
  sensor.set_name("sideband_mig_enabled");
  EXPECT_FALSE(SensorMetricValue({}, sensor).contains("MetricProperty"));
}

TEST(MetricValueTest, AValueOfACounter) {
  sideband::v1::Snapshot snapshot;
  snapshot.mutable_host_time()->set_seconds(1'800'000'000);
  ScopeCounters scope;
  scope.mutable_scope()->set_device("gpu0");
  scope.mutable_scope()->set_slice(1);
  scope.mutable_scope()->set_vm("\xFF<vm>");
  scope.mutable_scope()->set_vm_uuid("u");
  scope.mutable_scope()->set_context("train");
  scope.mutable_scope()->set_generation(3);
  scope.add_flags("overflow");
  Counter counter;
  counter.set_event("cycles");
  counter.set_count(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(CounterMetricValue(snapshot, scope, counter),
            nlohmann::json({{"MetricId", "context.cycles"},
                            {"MetricValue", "18446744073709551615"},
                            {"Timestamp", "2027-01-15T08:00:00.000Z"},
                            {"Oem",
                             {{"Sideband",
                               {{"@odata.type", "#SidebandTelemetry.v1_0_0.CounterValue"},
                                {"Device", "gpu0"},
                                {"Slice", 1},
                                {"Vm", "\xFF<vm>"},
                                {"VmUuid", "u"},
                                {"Context", "train"},
                                {"Generation", 3},
                                {"Flags", {"overflow"}}}}}}}));
}

TEST(MetricValueTest, AnEstimateIsMarked) {
  Counter counter;
  counter.set_coverage(0.25);
  counter.mutable_estimate()->set_standard_error(7);
  counter.mutable_estimate()->set_lower(10);
  counter.mutable_estimate()->set_upper(40);
  const auto properties = CounterMetricValue({}, {}, counter)["Oem"]["Sideband"];
  EXPECT_EQ(properties["Coverage"], 0.25);
  EXPECT_EQ(properties["StandardError"], "7");
  EXPECT_EQ(properties["LowerBound"], "10");
  EXPECT_EQ(properties["UpperBound"], "40");
  counter.mutable_estimate()->clear_upper();
  EXPECT_FALSE(CounterMetricValue({}, {}, counter)["Oem"]["Sideband"].contains("UpperBound"));
  counter.set_coverage(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(CounterMetricValue({}, {}, counter)["Oem"]["Sideband"].contains("Coverage")) << "the schema has no null";
}

TEST(MetricValueTest, Levels) {
  sideband::v1::Scope scope;
  EXPECT_STREQ(LevelNameOf(scope), "device");
  scope.set_vm_uuid("u");
  EXPECT_STREQ(LevelNameOf(scope), "vm");
  scope.set_context("c");
  EXPECT_STREQ(LevelNameOf(scope), "context");
  scope.set_host(true);
  EXPECT_STREQ(LevelNameOf(scope), "host");
}

TEST(TelemetryResourcesTest, EachReportHasADefinition) {
  for (const ReportRow& row : kReports) {
    EXPECT_EQ(FindReport(row.id), &row);
    const auto definition = ReportDefinitionJson(row);
    const auto report = MetricReport(row).Json(absl::UnixEpoch());
    EXPECT_EQ(definition["MetricReport"]["@odata.id"], report["@odata.id"]);
    EXPECT_EQ(report["MetricReportDefinition"]["@odata.id"], definition["@odata.id"]);
    EXPECT_EQ(definition["MetricReportDefinitionType"], "OnRequest");
  }
  EXPECT_EQ(FindReport("counters"), nullptr);
}

TEST(TelemetryResourcesTest, AReport) {
  MetricReport report(*FindReport("Counters"));
  ASSERT_TRUE(report.Add({{"MetricId", "vm.cycles"}}).ok());
  EXPECT_EQ(std::move(report).Json(absl::UnixEpoch()),
            nlohmann::json({{"@odata.id", "/redfish/v1/TelemetryService/MetricReports/Counters"},
                            {"@odata.type", "#MetricReport.v1_5_0.MetricReport"},
                            {"Id", "Counters"},
                            {"Name", "Counters of devices, VMs and contexts"},
                            {"Timestamp", "1970-01-01T00:00:00.000Z"},
                            {"MetricReportDefinition",
                             {{"@odata.id", "/redfish/v1/TelemetryService/MetricReportDefinitions/Counters"}}},
                            {"MetricValues", nlohmann::json::array({{{"MetricId", "vm.cycles"}}})},
                            {"MetricValues@odata.count", 1}}));
}

TEST(TelemetryResourcesTest, AReportIsBounded) {
  MetricReport report(*FindReport("Counters"));
  for (size_t i = 0; i < kMetricValuesMax; ++i) ASSERT_TRUE(report.Add(nlohmann::json::object()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(report.Add(nlohmann::json::object())));
}

TEST(TelemetryResourcesTest, TheServiceLeadsToItsCollections) {
  const auto service = TelemetryServiceJson();
  EXPECT_EQ(service["ServiceEnabled"], true);
  EXPECT_EQ(service["MaxReports"], 3);
  EXPECT_EQ(service["MetricReports"]["@odata.id"], "/redfish/v1/TelemetryService/MetricReports");
}

Sensor SensorOf(const char* family, const char* label) {
  Sensor sensor;
  sensor.set_name(family);
  auto& added = *sensor.add_labels();
  added.set_name("sensor");
  added.set_value(label);
  return sensor;
}

TEST(MetricDefinitionsTest, ASensorHasTheUrisOfItsReadings) {
  MetricDefinitions definitions;
  definitions.AddSensor("gpu0", SensorOf("sideband_power_watts", "total"));
  definitions.AddSensor("gpu0", SensorOf("sideband_power_watts", "memory"));
  definitions.AddSensor("gpu1", SensorOf("sideband_power_watts", "total"));
  EXPECT_THAT(definitions.Ids(), ElementsAre("power"));
  EXPECT_EQ(*definitions.Find("power"),
            nlohmann::json(
                {{"@odata.id", "/redfish/v1/TelemetryService/MetricDefinitions/power"},
                 {"@odata.type", "#MetricDefinition.v1_3_0.MetricDefinition"},
                 {"Id", "power"},
                 {"Name", "power"},
                 {"Description", "Power that the board uses."},
                 {"IsLinear", true},
                 {"MetricType", "Gauge"},
                 {"MetricDataType", "Decimal"},
                 {"Implementation", "PhysicalSensor"},
                 {"Units", "W"},
                 {"MetricProperties",
                  {"/redfish/v1/Chassis/gpu0/Sensors/power_total#/Reading",
                   "/redfish/v1/Chassis/gpu0/Sensors/power_memory#/Reading",
                   "/redfish/v1/Chassis/gpu1/Sensors/power_total#/Reading"}},
                 {"Oem",
                  {{"Sideband",
                    {{"@odata.type", "#SidebandTelemetry.v1_0_0.Definition"}, {"Metric", "sideband_power_watts"}}}}}}));
}

TEST(MetricDefinitionsTest, CountersOfSensors) {
  MetricDefinitions definitions;
  Sensor errors = SensorOf("sideband_pcie_link_replays_total", "x");
  errors.set_count(1);
  errors.set_count_per_unit(1);
  Sensor energy = SensorOf("sideband_energy_joules_total", "total");
  energy.set_count(1);
  energy.set_count_per_unit(1000);
  definitions.AddSensor("gpu0", errors);
  definitions.AddSensor("gpu0", energy);
  EXPECT_EQ((*definitions.Find("pcie_link_replays_total"))["MetricType"], "Counter");
  EXPECT_EQ((*definitions.Find("pcie_link_replays_total"))["MetricDataType"], "Integer");
  EXPECT_EQ((*definitions.Find("energy"))["MetricType"], "Numeric") << "Redfish's counters are integers";
  EXPECT_EQ((*definitions.Find("energy"))["MetricDataType"], "Decimal");
}

TEST(MetricDefinitionsTest, AnEventIsDefinedAtEachLevel) {
  MetricDefinitions definitions;
  Event event;
  event.set_name("dram_bytes");
  event.set_unit("bytes");
  event.set_description("Bytes to and from memory");
  definitions.AddEvent("vm", event);
  definitions.AddEvent("context", event);
  event.set_description("of another device");
  definitions.AddEvent("vm", event);
  EXPECT_THAT(definitions.Ids(), ElementsAre("context.dram_bytes", "vm.dram_bytes"));
  EXPECT_EQ(*definitions.Find("vm.dram_bytes"),
            nlohmann::json({{"@odata.id", "/redfish/v1/TelemetryService/MetricDefinitions/vm.dram_bytes"},
                            {"@odata.type", "#MetricDefinition.v1_3_0.MetricDefinition"},
                            {"Id", "vm.dram_bytes"},
                            {"Name", "vm.dram_bytes"},
                            {"Description", "Bytes to and from memory"},
                            {"IsLinear", true},
                            {"MetricType", "Counter"},
                            {"MetricDataType", "Integer"},
                            {"Implementation", "DigitalMeter"},
                            {"Units", "By"}}));
  event.set_unit("cycles");
  definitions.AddEvent("device", event);
  EXPECT_EQ((*definitions.Find("device.dram_bytes"))["Units"], "{cycles}");
  EXPECT_EQ(definitions.Find("dram_bytes"), std::nullopt);
}

// On gpu0, tenant p has a partition and tenant q a metric of another one; both have no VM.
constexpr char kPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - {name: a, identities: ["spiffe://example.org/tenant-a"], vms: [{uuid: 00000000-0000-0000-0000-0000000000a0}]}
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], events: [cycles]}]
  - {name: p, identities: ["spiffe://example.org/tenant-p"], partitions: [{device: gpu0, gpu_instance: 2}]}
  - name: q
    identities: ["spiffe://example.org/tenant-q"]
    partitions: [{device: gpu0, gpu_instance: 3, events: [dram_usage]}]
auditors: [{name: audit, identities: ["spiffe://example.org/auditor"]}]
)";
constexpr const char* kCallers[] = {"ops", "tenant-a", "tenant-b", "tenant-p", "tenant-q", "auditor"};
constexpr char kReportUris[] = "/redfish/v1/TelemetryService/MetricReports/";

class RedfishServiceTest : public testing::Test {
 protected:
  RedfishServiceTest() {
    world_.policy.Replace(*Policy::Parse(kPolicy, "policy.yaml"), nullptr);
    world_.Publish(0, 1);
    const BoardTime now = {world_.clock.Steady(), world_.clock.Now()};
    for (const BoardGroup group :
         {BoardGroup::kIdentity, BoardGroup::kPower, BoardGroup::kEnergy, BoardGroup::kMetrics, BoardGroup::kMemory}) {
      reading_.samples[group] = now;
    }
    reading_.identity.items = {{mailbox::SysId::kMarketingName, "Board \"X\""}, {mailbox::SysId::kSerialNumber, "7"}};
    reading_.power.watts[mailbox::PowerSource::kTotal] = 250;
    reading_.energy.millijoules[mailbox::PowerSource::kTotal] = {.value = 9'007'199'254'740'993};
    reading_.memory.total_mib = 1024;
    reading_.metrics.scopes[{}].ratios = {{MetricId::kSmActivity, 0.5}};
    for (const uint8_t partition : {2, 3}) {
      reading_.metrics.scopes[{.partition = partition}].ratios = {{MetricId::kSmActivity, 0.25},
                                                                  {MetricId::kDramUsage, 0.75}};
    }
    boards_.SetSettings(0, {.is_read = true});
    boards_.Publish(0, std::make_shared<const BoardReading>(reading_));
  }

  Caller CallerOf(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }

  absl::StatusOr<RedfishDocument> Document(const std::string& who, const std::string& target) {
    return service_.Get(CallerOf(who), *ParseRedfishTarget(target));
  }
  // An empty object after an error.
  nlohmann::json Get(const std::string& who, const std::string& target) {
    const auto document = Document(who, target);
    EXPECT_TRUE(document.ok()) << who << " " << target << ": " << document.status();
    return document.ok() ? nlohmann::json::parse(document->text) : nlohmann::json::object();
  }
  // The last segments of the members' URIs.
  std::vector<std::string> Members(const std::string& who, const std::string& target) {
    std::vector<std::string> names;
    const nlohmann::json collection = Get(who, target);
    for (const auto& member : collection["Members"]) {
      const std::string uri = member["@odata.id"];
      names.push_back(uri.substr(uri.rfind('/') + 1));
    }
    return names;
  }
  nlohmann::json Values(const std::string& who, const std::string& report) {
    return Get(who, absl::StrCat(kReportUris, report))["MetricValues"];
  }

  // The board tells its clocks, too.
  void PublishClocks() {
    reading_.samples[BoardGroup::kClocks] = {world_.clock.Steady(), world_.clock.Now()};
    reading_.clocks.current_mhz[mailbox::BoardClock::kGraphics] = 1410;
    boards_.Publish(0, std::make_shared<const BoardReading>(reading_));
  }

  // Adds every link in `json` that is not known yet.
  static void Collect(const nlohmann::json& json, std::vector<std::string>& to_visit, std::set<std::string>& known) {
    if (json.is_object() && json.contains("@odata.id")) {
      const std::string uri = json["@odata.id"];
      if (known.insert(uri).second) to_visit.push_back(uri);
    }
    if (!json.is_structured()) return;
    for (const auto& child : json) Collect(child, to_visit, known);
  }
  // Every resource that the caller can reach by links, by its URI.
  std::map<std::string, std::string> Crawl(const std::string& who) {
    std::map<std::string, std::string> found;
    std::vector<std::string> to_visit = {kChassisUri, kJsonSchemasUri, kSystemsUri, kTelemetryServiceUri,
                                         kSessionServiceUri};
    std::set<std::string> known(to_visit.begin(), to_visit.end());
    while (!to_visit.empty()) {
      const std::string uri = to_visit.back();
      to_visit.pop_back();
      const auto document = Document(who, uri);
      EXPECT_TRUE(document.ok()) << who << " " << uri << ": " << document.status();
      if (!document.ok()) continue;
      found[uri] = document->text;
      const auto json = nlohmann::json::parse(document->text);
      EXPECT_EQ(json["@odata.id"], uri);
      EXPECT_TRUE(json["@odata.type"].is_string() && json["Name"].is_string()) << uri;
      Collect(json, to_visit, known);
    }
    return found;
  }

  FakeWorld world_;
  BoardStore boards_;
  BoardReading reading_;
  SensorQueries sensors_{world_.reader, boards_};
  RedfishService service_{sensors_};
};

TEST_F(RedfishServiceTest, EveryLinkLeadsToAResource) {
  PublishClocks();
  for (const char* who : kCallers) EXPECT_GE(Crawl(who).size(), 12u) << who;
  const auto operators = Crawl("ops");
  for (const char* uri :
       {"/redfish/v1/Chassis/gpu0/Sensors/energy_total", "/redfish/v1/Chassis/gpu1/Sensors",
        "/redfish/v1/Chassis/gpu0/EnvironmentMetrics", "/redfish/v1/Systems/Host/Processors/gpu1",
        "/redfish/v1/Systems/Host/Processors/gpu0/ProcessorMetrics",
        "/redfish/v1/TelemetryService/MetricDefinitions/vm.cycles",
        "/redfish/v1/TelemetryService/MetricReports/Partitions", "/redfish/v1/SessionService/Sessions"}) {
    EXPECT_TRUE(operators.contains(uri)) << uri;
  }
}

TEST_F(RedfishServiceTest, NobodyHasAByteOfAnother) {
  PublishClocks();
  const std::vector<std::pair<std::string, std::vector<std::string>>> foreign = {
      {"ops", {"render", "\"compute\"", "train", "inner"}},
      {"tenant-a", {"vm1", "train", "secret", "pcie_bytes", "power", "partition_", "Board"}},
      {"tenant-b", {"vm0", "render", "secret", "dram_bytes", "pcie_bytes", "power", "partition_", "Board"}},
      {"tenant-p", {"vm0", "vm1", "secret", "cycles", "power", "usage_3", "activity_3", "Board", "gpu1"}},
      {"tenant-q", {"vm0", "vm1", "secret", "cycles", "power", "usage_2", "sm_activity", "Board", "gpu1"}},
      {"auditor", {"gpu0", "gpu1", "vm0", "vm1", "secret", "cycles", "power"}}};
  for (const auto& [who, words] : foreign) {
    for (const auto& [uri, text] : Crawl(who)) {
      for (const std::string& word : words) {
        // The fixed report's name.
        EXPECT_THAT(absl::StrReplaceAll(text, {{"BoardSensors", ""}}), Not(HasSubstr(word))) << who << " " << uri;
      }
    }
  }
}

TEST_F(RedfishServiceTest, WhatIsDeniedIsAbsent) {
  PublishClocks();
  const auto expect_absent = [&](const char* who, const std::string& target) {
    EXPECT_EQ(Document(who, target).status(), NotFound()) << who << " " << target;
  };
  for (const char* target :
       {"/redfish/v1/Chassis/gpu9", "/redfish/v1/Chassis/gpu9/Sensors", "/redfish/v1/nothing",
        "/redfish/v1/Chassis/gpu0/Sensors/nothing", "/redfish/v1/Chassis/gpu0/nothing",
        "/redfish/v1/TelemetryService/MetricReports/nothing", "/redfish/v2/Chassis", "/redfish/v1//Chassis",
        "/redfish/v1/TelemetryService/MetricDefinitions/vm.nothing", "/redfish/v1/chassis",
        "/redfish/v1/Chassis/gpu9/EnvironmentMetrics", "/redfish/v1/Chassis/gpu1/EnvironmentMetrics",
        "/redfish/v1/Systems/gpu0", "/redfish/v1/Systems/Host/Processors/gpu9",
        "/redfish/v1/Systems/Host/Processors/gpu9/ProcessorMetrics",
        "/redfish/v1/Systems/Host/Processors/gpu1/ProcessorMetrics"}) {
    for (const char* who : kCallers) expect_absent(who, target);
  }
  expect_absent("auditor", "/redfish/v1/Chassis/gpu0");
  expect_absent("auditor", "/redfish/v1/Systems/Host/Processors/gpu0");
  for (const char* who : {"tenant-a", "tenant-b", "tenant-p", "tenant-q", "auditor"}) {
    expect_absent(who, "/redfish/v1/Chassis/gpu0/EnvironmentMetrics");
    expect_absent(who, "/redfish/v1/Systems/Host/Processors/gpu0/ProcessorMetrics");
    expect_absent(who, "/redfish/v1/Systems/Host/Processors/gpu1");
  }
  expect_absent("tenant-a", "/redfish/v1/Chassis/gpu1");
  expect_absent("tenant-a", "/redfish/v1/Chassis/gpu0/Sensors");
  expect_absent("tenant-p", "/redfish/v1/Chassis/gpu0/Sensors/power_total");
  expect_absent("tenant-p", "/redfish/v1/Chassis/gpu0/Sensors/partition_sm_activity_3");
  expect_absent("tenant-b", "/redfish/v1/TelemetryService/MetricDefinitions/context.dram_bytes");
  expect_absent("tenant-b", "/redfish/v1/TelemetryService/MetricDefinitions/vm.cycles");
}

TEST_F(RedfishServiceTest, ChassisAreTheCallersDevices) {
  EXPECT_THAT(Members("ops", kChassisUri), ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(Members("tenant-a", kChassisUri), ElementsAre("gpu0"));
  EXPECT_THAT(Members("auditor", kChassisUri), IsEmpty());
  const auto seen = Get("ops", "/redfish/v1/Chassis/gpu0");
  EXPECT_EQ(seen["Model"], "Board \"X\"");
  EXPECT_EQ(seen["SerialNumber"], "7");
  EXPECT_EQ(seen["UUID"], "00000000-0000-0000-0000-0000000000d0");
  const auto tenants = Get("tenant-p", "/redfish/v1/Chassis/gpu0");
  EXPECT_FALSE(tenants.contains("Model"));
  EXPECT_TRUE(tenants.contains("Sensors")) << "its partition's";
  EXPECT_FALSE(Get("tenant-a", "/redfish/v1/Chassis/gpu0").contains("Sensors"));
  EXPECT_EQ(Get("ops", "/redfish/v1/Chassis/gpu1")["Status"]["State"], "UnavailableOffline");
}

TEST_F(RedfishServiceTest, ProcessorsAreTheCallersDevices) {
  constexpr char kProcessor[] = "/redfish/v1/Systems/Host/Processors/gpu0";
  PublishClocks();
  EXPECT_THAT(Members("ops", kSystemsUri), ElementsAre("Host"));
  EXPECT_THAT(Members("ops", kProcessorsUri), ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(Members("tenant-a", kProcessorsUri), ElementsAre("gpu0"));
  EXPECT_THAT(Members("auditor", kProcessorsUri), IsEmpty());
  const auto seen = Get("ops", kProcessor);
  EXPECT_EQ(seen["ProcessorType"], "GPU");
  EXPECT_EQ(seen["Model"], "Board \"X\"");
  EXPECT_EQ(seen["OperatingSpeedMHz"], 1410);
  EXPECT_EQ(Get("ops", seen["Metrics"]["@odata.id"])["OperatingSpeedMHz"], 1410);
  EXPECT_EQ(Get("ops", seen["EnvironmentMetrics"]["@odata.id"])["PowerWatts"]["Reading"], 250);
}

// The words of the sensors' labels are those that the resources look for.
TEST_F(RedfishServiceTest, AProcessorHasWhatItsBoardTells) {
  reading_.clocks = {.current_mhz = {{mailbox::BoardClock::kGraphics, 1410}}, .throttle_active = 0x3F};
  reading_.clock_limits.minimum_mhz[mailbox::BoardClock::kGraphics] = 210;
  reading_.clock_limits.maximum_mhz[mailbox::BoardClock::kGraphics] = 1980;
  reading_.margin.celsius = 12.5;
  reading_.temperature.celsius[mailbox::TempSensor::kGpu0] = 61.5;
  reading_.power_limits.limits[mailbox::PowerSource::kTotal] = {.current = 400, .minimum = 150, .maximum = 450};
  reading_.pcie = {.generation = 5, .lanes = 16};
  uint64_t count = 0;
  for (auto PcieReading::*error : {&PcieReading::correctable, &PcieReading::non_fatal, &PcieReading::fatal,
                                   &PcieReading::unsupported, &PcieReading::recoveries, &PcieReading::naks_received,
                                   &PcieReading::replay_rollovers, &PcieReading::naks_sent, &PcieReading::replays}) {
    reading_.pcie.*error = {.value = ++count};
  }
  reading_.metrics.scopes[{}].ratios[MetricId::kEngineActive] = 0.07;
  boards_.Publish(0, std::make_shared<const BoardReading>(reading_));

  const auto processor = Get("ops", "/redfish/v1/Systems/Host/Processors/gpu0");
  EXPECT_EQ(processor["MinSpeedMHz"], 210);
  EXPECT_EQ(processor["MaxSpeedMHz"], 1980);
  EXPECT_EQ(processor["ThrottleCauses"],
            nlohmann::json::array({"PowerLimit", "Unknown", "ThermalLimit", "ClockLimit"}));
  EXPECT_EQ(processor["MemorySummary"]["TotalMemorySizeMiB"], 1024);
  EXPECT_EQ(processor["SystemInterface"]["PCIe"], nlohmann::json({{"PCIeType", "Gen5"}, {"LanesInUse", 16}}));
  const auto metrics = Get("ops", processor["Metrics"]["@odata.id"]);
  EXPECT_EQ(metrics["BandwidthPercent"], 7);
  EXPECT_EQ(metrics["ThrottlingCelsius"], 12.5);
  EXPECT_EQ(metrics["PCIeErrors"], nlohmann::json({{"CorrectableErrorCount", 1},
                                                   {"NonFatalErrorCount", 2},
                                                   {"FatalErrorCount", 3},
                                                   {"UnsupportedRequestCount", 4},
                                                   {"L0ToRecoveryCount", 5},
                                                   {"NAKReceivedCount", 6},
                                                   {"ReplayRolloverCount", 7},
                                                   {"NAKSentCount", 8},
                                                   {"ReplayCount", 9}}));
  const auto environment = Get("ops", processor["EnvironmentMetrics"]["@odata.id"]);
  EXPECT_EQ(environment["TemperatureCelsius"]["Reading"], 61.5);
  EXPECT_EQ(environment["PowerLimitWatts"],
            nlohmann::json({{"SetPoint", 400}, {"AllowableMin", 150}, {"AllowableMax", 450}}));
}

TEST_F(RedfishServiceTest, ATenantSeesNoMoreOfAProcessorThanItsDevice) {
  PublishClocks();
  for (const char* who : {"tenant-a", "tenant-p", "tenant-q"}) {
    for (const char* collection : {kProcessorsUri, kChassisUri}) {
      const auto expanded = Get(who, absl::StrCat(collection, "?$expand=."));
      ASSERT_EQ(expanded["Members"].size(), 1u);
      for (const char* name : {"Model", "OperatingSpeedMHz", "MemorySummary", "Throttled", "Metrics",
                               "EnvironmentMetrics", "SerialNumber"}) {
        EXPECT_FALSE(expanded["Members"][0].contains(name)) << who << " " << name;
      }
    }
  }
  EXPECT_EQ(Get("auditor", absl::StrCat(kProcessorsUri, "?$expand=*"))["Members"], nlohmann::json::array());
}

TEST_F(RedfishServiceTest, SensorsAreThoseWithATypeOfReading) {
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis/gpu0/Sensors"),
              ElementsAre("board_sm_activity", "energy_total", "partition_dram_usage_2", "partition_dram_usage_3",
                          "partition_sm_activity_2", "partition_sm_activity_3", "power_total"));
  EXPECT_THAT(Members("tenant-q", "/redfish/v1/Chassis/gpu0/Sensors"), ElementsAre("partition_dram_usage_3"));
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis/gpu1/Sensors"), IsEmpty()) << "its board is not read";
  EXPECT_EQ(Get("tenant-q", "/redfish/v1/Chassis/gpu0/Sensors/partition_dram_usage_3")["Reading"], 75);
}

TEST_F(RedfishServiceTest, ReportsHaveEverySensorOnce) {
  for (const char* who : kCallers) {
    std::multiset<std::string> expected, found;
    const auto sensors = sensors_.Get(CallerOf(who), {});
    for (const auto& device : sensors->devices()) {
      for (const auto& sensor : device.sensors()) expected.insert(sensor.name());
    }
    for (const char* report : {"BoardSensors", "Partitions"}) {
      for (const auto& value : Values(who, report)) {
        const std::string id = value["MetricId"];
        found.insert(Get(who, absl::StrCat(kMetricDefinitionsUri, "/", id))["Oem"]["Sideband"]["Metric"]);
      }
    }
    EXPECT_EQ(found, expected) << who;
  }
  EXPECT_THAT(Values("tenant-p", "BoardSensors"), IsEmpty());
  EXPECT_EQ(Values("tenant-p", "Partitions").size(), 2u);
  EXPECT_EQ(Values("ops", "Partitions").size(), 4u);
}

TEST_F(RedfishServiceTest, APropertyHasTheReportedValue) {
  size_t properties = 0;
  for (const char* report : {"BoardSensors", "Partitions"}) {
    for (const auto& value : Values("ops", report)) {
      if (!value.contains("MetricProperty")) continue;
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(value["MetricProperty"].get<std::string>(), "#/");
      const std::string text = value["MetricValue"];
      EXPECT_EQ(Get("ops", parts.first)[parts.second].get<double>(), std::stod(text)) << value;
      EXPECT_THAT(Get("ops", absl::StrCat(kMetricDefinitionsUri, "/",
                                          value["MetricId"].get<std::string>()))["MetricProperties"],
                  Contains(value["MetricProperty"]));
      ++properties;
    }
  }
  EXPECT_EQ(properties, 7u);
}

// "LEVEL.EVENT DEVICE/VM/CONTEXT COUNT" of each counter.
TEST_F(RedfishServiceTest, CountersAreThoseOfTheApi) {
  world_.AddHostBlocks();
  world_.Publish(0, 2);
  const auto text = [](const std::string& id, const std::string& vm, const std::string& context,
                       const std::string& count) { return absl::StrCat(id, " ", vm, "/", context, " ", count); };
  for (const char* who : kCallers) {
    std::multiset<std::string> expected, found;
    for (const VisibleDevice& device : world_.reader.Devices(CallerOf(who))) {
      if (device.snapshot == nullptr) continue;
      const auto snapshot = SnapshotMessage(device, RowFilter());
      for (const auto& scope : snapshot.scopes()) {
        const std::string level = scope.scope().host()              ? "host"
                                  : scope.scope().vm().empty()      ? "device"
                                  : scope.scope().context().empty() ? "vm"
                                                                    : "context";
        for (const auto& counter : scope.counters()) {
          expected.insert(text(level + "." + counter.event(), scope.scope().vm(), scope.scope().context(),
                               absl::StrCat(counter.count())));
        }
      }
    }
    const auto definitions = Members(who, kMetricDefinitionsUri);
    for (const auto& value : Values(who, "Counters")) {
      const auto& properties = value["Oem"]["Sideband"];
      EXPECT_EQ(properties["Device"], "gpu0");
      EXPECT_THAT(definitions, Contains(value["MetricId"].get<std::string>()));
      found.insert(
          text(value["MetricId"], properties.value("Vm", ""), properties.value("Context", ""), value["MetricValue"]));
    }
    EXPECT_EQ(found, expected) << who;
  }
  EXPECT_EQ(Values("tenant-b", "Counters").size(), 1u);
}

// The properties of "Oem": {"Sideband": …} that the schema does not have, in all of `json`.
void CollectUnknown(const nlohmann::json& json, const nlohmann::json& definitions, std::set<std::string>& unknown,
                    size_t& objects) {
  if (!json.is_structured()) return;
  for (const auto& child : json) CollectUnknown(child, definitions, unknown, objects);
  if (!json.is_object() || !json.contains("Oem")) return;
  const auto& oem = json["Oem"]["Sideband"];
  const std::vector<std::string> type = absl::StrSplit(oem["@odata.type"].get<std::string>(), '.');
  ++objects;
  for (const auto& [name, value] : oem.items()) {
    const auto& known = definitions[type.back()]["properties"];
    if (name != "@odata.type" && !known.contains(name)) unknown.insert(name);
  }
}

TEST_F(RedfishServiceTest, TheSchemaHasWhatIsOurOwn) {
  const auto file = Get("tenant-a", Get("tenant-a", kJsonSchemasUri)["Members"][0]["@odata.id"]);
  const auto schema = Get("tenant-a", file["Location"][0]["Uri"]);
  std::set<std::string> unknown;
  size_t objects = 0;
  for (const char* collection : {"MetricReports", "MetricDefinitions"}) {
    const auto all = Get("ops", absl::StrCat("/redfish/v1/TelemetryService/", collection, "?$expand=."));
    CollectUnknown(all, schema["definitions"], unknown, objects);
  }
  EXPECT_THAT(unknown, IsEmpty());
  EXPECT_GT(objects, 15u);
  const auto csdl = Document("tenant-a", "/redfish/v1/Schemas/SidebandTelemetry_v1.xml");
  ASSERT_TRUE(csdl.ok()) << csdl.status();
  EXPECT_EQ(csdl->content_type, kRedfishXmlType);
  EXPECT_EQ(Document("ops", "/redfish/v1/JsonSchemas/Chassis.v1_15_0").status(), NotFound());
  EXPECT_TRUE(
      absl::IsUnimplemented(Document("ops", "/redfish/v1/Schemas/SidebandTelemetry_v1.xml?$select=x").status()));
}

TEST_F(RedfishServiceTest, FlagsAreWithTheCounts) {
  bool has_flags = false;
  for (const auto& value : Values("tenant-a", "Counters")) {
    const auto& properties = value["Oem"]["Sideband"];
    if (properties.value("Context", "") != "compute") continue;
    EXPECT_THAT(properties["Flags"], Contains("overflow"));
    has_flags = true;
  }
  EXPECT_TRUE(has_flags);
}

TEST_F(RedfishServiceTest, NothingOldIsShownAsFresh) {
  world_.clock.Advance(absl::Seconds(61));
  for (const char* report : {"BoardSensors", "Counters", "Partitions"}) EXPECT_THAT(Values("ops", report), IsEmpty());
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis/gpu0/Sensors"), IsEmpty());
  EXPECT_EQ(Document("tenant-p", "/redfish/v1/Chassis/gpu0/Sensors").status(), NotFound());
  EXPECT_EQ(Get("ops", "/redfish/v1/Chassis/gpu0")["Status"]["State"], "UnavailableOffline");
  EXPECT_EQ(Get("ops", "/redfish/v1/Systems/Host/Processors/gpu0")["Status"]["State"], "UnavailableOffline");
  EXPECT_EQ(Document("ops", "/redfish/v1/Chassis/gpu0/EnvironmentMetrics").status(), NotFound());
}

TEST_F(RedfishServiceTest, PagesAndQueries) {
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis?$top=1"), ElementsAre("gpu0"));
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis?$skip=1"), ElementsAre("gpu1"));
  EXPECT_THAT(Members("ops", "/redfish/v1/Chassis/?only"), ElementsAre("gpu0", "gpu1"));
  EXPECT_TRUE(absl::IsUnimplemented(Document("ops", "/redfish/v1/Chassis?$filter=x").status()));
  EXPECT_TRUE(absl::IsUnimplemented(Document("ops", "/redfish/v1/Chassis/gpu0?$expand=.").status()));
  EXPECT_TRUE(absl::IsOutOfRange(Document("ops", "/redfish/v1/Chassis?$expand=.($levels=2)").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Document("ops", "/redfish/v1/Chassis/gpu0?$top=1").status()));
  EXPECT_EQ(Document("tenant-a", "/redfish/v1/nothing?$expand=.").status(), NotFound());
}

// So a tenant gets by $expand what it gets one by one.
TEST_F(RedfishServiceTest, AnExpandedMemberIsWhatItsLinkLeadsTo) {
  size_t members = 0;
  for (const char* who : kCallers) {
    for (const auto& [uri, text] : Crawl(who)) {
      const nlohmann::json plain = nlohmann::json::parse(text);
      if (!plain.contains("Members")) continue;
      nlohmann::json expected = plain;
      for (nlohmann::json& member : expected["Members"]) {
        member = Get(who, member["@odata.id"]);
        ++members;
      }
      for (const char* option : {".", "*", ".($levels=1)"}) {
        EXPECT_EQ(Get(who, absl::StrCat(uri, "?$expand=", option)), expected) << who << " " << uri;
      }
      EXPECT_EQ(Get(who, uri + "?$expand=~"), plain) << who << " " << uri;
    }
  }
  EXPECT_GT(members, 50u);
  EXPECT_EQ(Document("tenant-a", "/redfish/v1/Chassis/gpu0/Sensors?$expand=.").status(), NotFound());
  EXPECT_EQ(Document("tenant-a", "/redfish/v1/Chassis/gpu1/Sensors?$expand=.").status(), NotFound());
}

TEST_F(RedfishServiceTest, DocumentsHaveTheirSchemas) {
  EXPECT_EQ(Document("ops", "/redfish/v1/Chassis/gpu0")->schema,
            "http://redfish.dmtf.org/schemas/v1/Chassis.v1_15_0.json");
  EXPECT_EQ(Document("ops", "/redfish/v1/Chassis")->schema,
            "http://redfish.dmtf.org/schemas/v1/ChassisCollection.json");
  EXPECT_EQ(Document("ops", "/redfish/v1/Chassis")->content_type, kRedfishJsonType);
}

// The rows of a device with `vms` VMs beside those of the fake world, which all have the same name.
void PublishVms(FakeWorld& world, uint16_t vms, const std::string& name) {
  mailbox::Catalog catalog = world.topology->catalog();
  auto snapshot = std::make_shared<DeviceSnapshot>(*world.store.Newest(0));
  for (uint16_t i = 0; i < vms; ++i) {
    const auto id = static_cast<uint16_t>(100 + i);
    mailbox::VmInfo vm = catalog.vms[0];
    vm.id = id;
    vm.name = name;
    catalog.vms.push_back(vm);
    mailbox::BlockHeader block = snapshot->data.blocks[1];
    block.vm = id;
    snapshot->data.blocks.push_back(block);
    for (uint64_t event = 0; event < 3; ++event) snapshot->data.counters.push_back(event);
  }
  snapshot->topology = std::make_shared<Topology>(catalog, 99);
  snapshot->estimated = snapshot->topology->rotation().ShownCounters(snapshot->data);
  snapshot->rates.assign(snapshot->data.counters.size(), std::nan(""));
  snapshot->created.assign(snapshot->data.blocks.size(), absl::UnixEpoch());
  world.store.Publish(0, std::move(snapshot));
}

TEST_F(RedfishServiceTest, NamesAreOnlyValues) {
  const std::string name = "a/../\"<b>\\\n\xFF#/?$top=1";
  PublishVms(world_, 2, name);
  size_t found = 0;
  for (const auto& value : Values("ops", "Counters")) {
    found += value["Oem"]["Sideband"].value("Vm", "") == "a/../\"<b>\\\n\xEF\xBF\xBD#/?$top=1";
  }
  EXPECT_EQ(found, 4u) << "two events of two VMs";
  Crawl("ops");
}

TEST_F(RedfishServiceTest, AReportThatIsTooLargeIsRefused) {
  PublishVms(world_, 9'000, "many");
  EXPECT_EQ(Values("ops", "Counters").size(), 18'006u);
  EXPECT_LT(Document("ops", absl::StrCat(kReportUris, "Counters"))->text.size(), 6'000'000u);
  world_.Publish(0, 1);
  PublishVms(world_, 10'000, "more");
  const auto refused = Document("ops", absl::StrCat(kReportUris, "Counters")).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("20000"));
  EXPECT_EQ(Values("tenant-b", "Counters").size(), 1u) << "others are not affected";
}

TEST_F(RedfishServiceTest, ReportsOfOneAnswerShareTheBound) {
  const std::string expanded = "/redfish/v1/TelemetryService/MetricReports?$expand=.";
  const size_t others = Values("ops", "BoardSensors").size() + Values("ops", "Partitions").size();
  const size_t per_vm = 2, own = Values("ops", "Counters").size();
  const auto vms = static_cast<uint16_t>((kMetricValuesMax - own - others) / per_vm);
  PublishVms(world_, vms, "many");
  EXPECT_TRUE(Document("ops", expanded).ok());
  world_.Publish(0, 1);
  PublishVms(world_, vms + 1, "more");
  EXPECT_TRUE(Document("ops", absl::StrCat(kReportUris, "Counters")).ok()) << "alone it is small enough";
  EXPECT_TRUE(absl::IsResourceExhausted(Document("ops", expanded).status()));
  EXPECT_TRUE(Document("ops", expanded + "&$top=1").ok());
}

}  // namespace

}  // namespace sideband::daemon
