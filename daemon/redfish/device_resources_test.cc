// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/device_resources.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "daemon/board/sensor_families.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Sensor;

Sensor SensorOf(const std::string& family, const std::vector<std::pair<std::string, std::string>>& labels,
                double value) {
  Sensor sensor;
  sensor.set_name(family);
  sensor.set_value(value);
  sensor.set_group("power");
  for (const auto& [name, text] : labels) {
    auto& label = *sensor.add_labels();
    label.set_name(name);
    label.set_value(text);
  }
  return sensor;
}

// "ID TYPE UNITS", or "" without a reading.
std::string ReadingText(const Sensor& sensor) {
  const auto reading = RedfishReadingOf(sensor);
  return reading ? reading->id + " " + reading->type + " " + reading->units : "";
}

TEST(SensorResourceTest, TypesOfReadings) {
  struct Row {
    const char* family;
    std::vector<std::pair<std::string, std::string>> labels;
    const char* reading;
  };
  for (const Row& row :
       {Row{"sideband_temperature_celsius", {{"sensor", "gpu"}}, "temperature_gpu Temperature Cel"},
        Row{"sideband_temperature_margin_celsius", {{"sensor", "gpu"}}, "temperature_margin_gpu Temperature Cel"},
        Row{"sideband_power_watts", {{"sensor", "total"}}, "power_total Power W"},
        Row{"sideband_energy_joules_total", {{"sensor", "total"}}, "energy_total EnergyJoules J"},
        Row{"sideband_clock_hertz", {{"clock", "memory"}, {"kind", "current"}}, "clock_memory Frequency Hz"},
        Row{"sideband_board_sm_activity_ratio", {}, "board_sm_activity Percent %"},
        Row{"sideband_partition_sm_activity_ratio",
            {{"partition", "2"}, {"compute_instance", "1"}},
            "partition_sm_activity_2_1 Percent %"},
        // Limits, and what Redfish has no type for.
        Row{"sideband_clock_hertz", {{"clock", "memory"}, {"kind", "maximum"}}, ""},
        Row{"sideband_power_limit_watts", {{"kind", "current"}, {"sensor", "total"}}, ""},
        Row{"sideband_temperature_threshold_celsius", {{"kind", "shutdown"}}, ""},
        Row{"sideband_memory_bytes", {{"state", "used"}}, ""}, Row{"sideband_nvlink_up", {{"link", "0"}}, ""}}) {
    EXPECT_EQ(ReadingText(SensorOf(row.family, row.labels, 1)), row.reading) << row.family;
  }
}

TEST(SensorResourceTest, AResource) {
  sideband::v1::DeviceSensors device;
  device.set_device("gpu0");
  auto& group = *device.add_groups();
  group.set_name("power");
  group.mutable_host_time()->set_seconds(1'800'000'000);
  Sensor sensor = SensorOf("sideband_power_watts", {{"sensor", "memory"}}, 41.5);
  EXPECT_EQ(SensorJson(device, sensor, *RedfishReadingOf(sensor)),
            nlohmann::json({{"@odata.id", "/redfish/v1/Chassis/gpu0/Sensors/power_memory"},
                            {"@odata.type", "#Sensor.v1_7_0.Sensor"},
                            {"Id", "power_memory"},
                            {"Name", "power memory"},
                            {"Description", "Power that the board uses."},
                            {"ReadingType", "Power"},
                            {"ReadingUnits", "W"},
                            {"ReadingBasis", "Zero"},
                            {"Reading", 41.5},
                            {"ReadingTime", "2027-01-15T08:00:00.000Z"},
                            {"PhysicalContext", "Memory"},
                            {"Implementation", "Reported"},
                            {"Status", {{"State", "Enabled"}}}}));
  sensor.mutable_created()->set_seconds(0);
  EXPECT_EQ(SensorJson(device, sensor, *RedfishReadingOf(sensor))["SensorResetTime"], "1970-01-01T00:00:00.000Z");
}

// The thresholds of a sensor beside these limits.
nlohmann::json Thresholds(const Sensor& sensor) {
  constexpr char kThreshold[] = "sideband_temperature_threshold_celsius", kLimit[] = "sideband_power_limit_watts";
  sideband::v1::DeviceSensors device;
  for (const auto& [kind, celsius] : std::vector<std::pair<const char*, double>>{{"target", 78},
                                                                                 {"hardware_slowdown", 90},
                                                                                 {"shutdown", 97},
                                                                                 {"memory_slowdown", 95},
                                                                                 {"software_slowdown", 82.5},
                                                                                 {"hardware_slowdown_margin", -2},
                                                                                 {"shutdown_margin", -8}}) {
    *device.add_sensors() = SensorOf(kThreshold, {{"kind", kind}}, celsius);
  }
  *device.add_sensors() = SensorOf(kLimit, {{"kind", "current"}, {"sensor", "total"}}, 350);
  *device.add_sensors() = SensorOf(kLimit, {{"kind", "maximum"}, {"sensor", "total"}}, 450);
  *device.add_sensors() = SensorOf(kLimit, {{"kind", "current"}, {"sensor", "module"}}, 900);
  *device.add_sensors() = sensor;
  return SensorJson(device, sensor, *RedfishReadingOf(sensor)).value("Thresholds", nlohmann::json());
}

TEST(SensorResourceTest, LimitsOfTheBoardAreThresholds) {
  const auto reading = [](double value) { return nlohmann::json({{"Reading", value}}); };
  const auto of = [](const char* family, const char* sensor) {
    return Thresholds(SensorOf(family, {{"sensor", sensor}}, 20));
  };
  EXPECT_EQ(
      of("sideband_temperature_celsius", "gpu"),
      nlohmann::json({{"UpperCaution", reading(82.5)}, {"UpperCritical", reading(90)}, {"UpperFatal", reading(97)}}));
  EXPECT_EQ(of("sideband_temperature_celsius", "memory"), nlohmann::json({{"UpperCritical", reading(95)}}));
  EXPECT_EQ(of("sideband_temperature_margin_celsius", "gpu"),
            nlohmann::json({{"LowerCritical", reading(-2)}, {"LowerFatal", reading(-8)}}));
  EXPECT_EQ(of("sideband_power_watts", "total"), nlohmann::json({{"UpperCaution", reading(350)}}));
  EXPECT_EQ(of("sideband_power_watts", "module"), nlohmann::json({{"UpperCaution", reading(900)}}));
}

TEST(SensorResourceTest, WithoutLimitsThereAreNoThresholds) {
  EXPECT_TRUE(Thresholds(SensorOf("sideband_temperature_celsius", {{"sensor", "board"}}, 20)).is_null());
  EXPECT_TRUE(Thresholds(SensorOf("sideband_power_watts", {{"sensor", "memory"}}, 20)).is_null());
  EXPECT_TRUE(Thresholds(SensorOf("sideband_board_sm_activity_ratio", {}, 0.5)).is_null());
  const Sensor alone = SensorOf("sideband_temperature_celsius", {{"sensor", "gpu"}}, 20);
  EXPECT_FALSE(SensorJson({}, alone, *RedfishReadingOf(alone)).contains("Thresholds")) << "the board tells none";
}

TEST(SensorResourceTest, AMarginIsHeadroom) {
  const Sensor sensor = SensorOf("sideband_temperature_margin_celsius", {{"sensor", "gpu"}}, 12.5);
  EXPECT_EQ(SensorJson({}, sensor, *RedfishReadingOf(sensor))["ReadingBasis"], "Headroom");
}

TEST(SensorResourceTest, SharesAreInPercent) {
  EXPECT_EQ(ValueInRedfish(SensorOf("sideband_board_sm_activity_ratio", {}, 0.07)), 7);
  EXPECT_EQ(ValueInRedfish(SensorOf("sideband_board_sm_activity_ratio", {}, 1)), 100);
  EXPECT_EQ(ValueInRedfish(SensorOf("sideband_power_watts", {}, 0.07)), 0.07);
}

TEST(SensorResourceTest, EachFamilyHasAnIdOfItsOwn) {
  std::set<std::string> ids;
  for (const SensorFamily& family : SensorFamilies()) {
    EXPECT_TRUE(ids.insert(SensorMetricId(family.name)).second) << family.name;
    EXPECT_FALSE(absl::StrContains(SensorMetricId(family.name), ".")) << "counters' have one";
  }
  EXPECT_EQ(SensorMetricId("sideband_nvlink_data_bytes_total"), "nvlink_data_bytes_total");
  EXPECT_EQ(SensorMetricId("sideband_power_limit_watts"), "power_limit");
}

using sideband::v1::Device;
using sideband::v1::DeviceSensors;
using Labels = std::vector<std::pair<std::string, std::string>>;

Device ADevice(Device::State state = Device::STATE_FRESH) {
  Device device;
  device.set_name("gpu 0");
  device.set_uuid("00000000-0000-0000-0000-0000000000d0");
  device.set_state(state);
  return device;
}

Sensor& Add(const char* family, const Labels& labels, double value, DeviceSensors& sensors) {
  Sensor& sensor = *sensors.add_sensors();
  sensor.set_name(family);
  sensor.set_value(value);
  for (const auto& [name, text] : labels) {
    auto& label = *sensor.add_labels();
    label.set_name(name);
    label.set_value(text);
  }
  return sensor;
}

void AddCount(const char* family, const Labels& labels, uint64_t count, uint64_t per_unit, DeviceSensors& sensors) {
  Sensor& sensor = Add(family, labels, static_cast<double>(count) / static_cast<double>(per_unit), sensors);
  sensor.set_count(count);
  sensor.set_count_per_unit(per_unit);
  sensor.mutable_created()->set_seconds(1'800'000'000);
}

DeviceSensors NoSensors() {
  DeviceSensors sensors;
  sensors.set_device("gpu 0");
  return sensors;
}

void AddInfo(DeviceSensors& sensors) {
  Add("sideband_board_info",
      {{"part_number", "P"}, {"serial", "1"}, {"name", "\"<Board>\\\n"}, {"firmware", "2"}, {"gpu_part_number", "G"}},
      1, sensors);
}

TEST(ChassisResourceTest, ADeviceWithABoard) {
  DeviceSensors sensors = NoSensors();
  AddInfo(sensors);
  EXPECT_EQ(
      ChassisJson(ADevice(), sensors),
      nlohmann::json(
          {{"@odata.id", "/redfish/v1/Chassis/gpu~200"},
           {"@odata.type", "#Chassis.v1_15_0.Chassis"},
           {"Id", "gpu~200"},
           {"Name", "gpu 0"},
           {"ChassisType", "Card"},
           {"Status", {{"State", "Enabled"}}},
           {"Links",
            {{"Processors", nlohmann::json::array({{{"@odata.id", "/redfish/v1/Systems/Host/Processors/gpu~200"}}})}}},
           {"UUID", "00000000-0000-0000-0000-0000000000d0"},
           {"Model", "\"<Board>\\\n"},
           {"PartNumber", "P"},
           {"SerialNumber", "1"},
           {"Sensors", {{"@odata.id", "/redfish/v1/Chassis/gpu~200/Sensors"}}}}));
  Add("sideband_power_watts", {{"sensor", "total"}}, 250, sensors);
  EXPECT_EQ(ChassisJson(ADevice(), sensors)["EnvironmentMetrics"]["@odata.id"],
            "/redfish/v1/Chassis/gpu~200/EnvironmentMetrics");
}

TEST(ChassisResourceTest, WhatIsUnknownIsAbsent) {
  Device device = ADevice(Device::STATE_AWAY);
  device.clear_uuid();
  const auto chassis = ChassisJson(device, std::nullopt);
  EXPECT_EQ(chassis["Status"]["State"], "UnavailableOffline");
  for (const char* name : {"UUID", "Model", "Sensors", "EnvironmentMetrics"}) {
    EXPECT_FALSE(chassis.contains(name)) << name;
  }
  EXPECT_TRUE(ChassisJson(device, NoSensors()).contains("Sensors")) << "a collection of none";
}

TEST(ProcessorResourceTest, AProcessor) {
  DeviceSensors sensors = NoSensors();
  AddInfo(sensors);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "current"}}, 1.41e9, sensors);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "minimum"}}, 210e6, sensors);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "maximum"}}, 1.98e9, sensors);
  Add("sideband_clock_hertz", {{"clock", "memory"}, {"kind", "current"}}, 2.6e9, sensors);
  Add("sideband_throttle_active", {{"reason", "software_power_cap"}}, 1, sensors);
  Add("sideband_throttle_active", {{"reason", "hardware_power_brake"}}, 1, sensors);
  Add("sideband_throttle_active", {{"reason", "hardware_slowdown"}}, 1, sensors);
  Add("sideband_throttle_active", {{"reason", "hardware_thermal"}}, 0, sensors);
  Add("sideband_memory_bytes", {{"state", "used"}}, 1, sensors);
  Add("sideband_memory_bytes", {{"state", "total"}}, 80.0 * (1 << 30), sensors);
  Add("sideband_ecc_enabled", {}, 1, sensors);
  Add("sideband_pcie_link_generation", {}, 5, sensors);
  Add("sideband_pcie_link_width", {}, 16, sensors);
  EXPECT_EQ(ProcessorJson(ADevice(), sensors),
            nlohmann::json(
                {{"@odata.id", "/redfish/v1/Systems/Host/Processors/gpu~200"},
                 {"@odata.type", "#Processor.v1_16_0.Processor"},
                 {"Id", "gpu~200"},
                 {"Name", "gpu 0"},
                 {"ProcessorType", "GPU"},
                 {"Status", {{"State", "Enabled"}}},
                 {"Links", {{"Chassis", {{"@odata.id", "/redfish/v1/Chassis/gpu~200"}}}}},
                 {"UUID", "00000000-0000-0000-0000-0000000000d0"},
                 {"Model", "\"<Board>\\\n"},
                 {"PartNumber", "G"},
                 {"FirmwareVersion", "2"},
                 {"OperatingSpeedMHz", 1410},
                 {"MinSpeedMHz", 210},
                 {"MaxSpeedMHz", 1980},
                 {"Throttled", true},
                 {"ThrottleCauses", {"PowerLimit", "Unknown"}},
                 {"MemorySummary", {{"TotalMemorySizeMiB", 81920}, {"ECCModeEnabled", true}}},
                 {"SystemInterface", {{"InterfaceType", "PCIe"}, {"PCIe", {{"PCIeType", "Gen5"}, {"LanesInUse", 16}}}}},
                 {"Metrics", {{"@odata.id", "/redfish/v1/Systems/Host/Processors/gpu~200/ProcessorMetrics"}}}}));
}

TEST(ProcessorResourceTest, WhatIsUnknownIsAbsent) {
  const auto processor = ProcessorJson(ADevice(Device::STATE_AWAY), DeviceSensors());
  EXPECT_EQ(processor["Status"]["State"], "UnavailableOffline");
  EXPECT_EQ(processor.size(), 8u) << processor;
  DeviceSensors sensors = NoSensors();
  Add("sideband_pcie_link_generation", {}, 7, sensors);
  EXPECT_FALSE(ProcessorJson(ADevice(), sensors).contains("SystemInterface")) << "Redfish has no name for it";
}

TEST(ProcessorResourceTest, ThrottleCausesAreEmptyWithoutOne) {
  DeviceSensors sensors = NoSensors();
  Add("sideband_throttle_active", {{"reason", "sync_boost"}}, 0, sensors);
  auto processor = ProcessorJson(ADevice(), sensors);
  EXPECT_EQ(processor["Throttled"], false);
  EXPECT_EQ(processor["ThrottleCauses"], nlohmann::json::array());
  Add("sideband_throttle_active", {{"reason", "software_thermal"}}, 1, sensors);
  processor = ProcessorJson(ADevice(), sensors);
  EXPECT_EQ(processor["Throttled"], true);
  EXPECT_EQ(processor["ThrottleCauses"], nlohmann::json::array({"ThermalLimit"}));
}

TEST(EnvironmentMetricsTest, ValuesHaveTheirSensors) {
  DeviceSensors sensors = NoSensors();
  Add("sideband_temperature_celsius", {{"sensor", "gpu"}}, 61.5, sensors);
  Add("sideband_temperature_celsius", {{"sensor", "memory"}}, 70, sensors);
  Add("sideband_power_watts", {{"sensor", "total"}}, 250, sensors);
  AddCount("sideband_energy_joules_total", {{"sensor", "total"}}, 7'200'000'000, 1000, sensors);
  Add("sideband_power_limit_watts", {{"kind", "current"}, {"sensor", "total"}}, 400, sensors);
  Add("sideband_power_limit_watts", {{"kind", "minimum"}, {"sensor", "total"}}, 150, sensors);
  Add("sideband_power_limit_watts", {{"kind", "maximum"}, {"sensor", "total"}}, 450, sensors);
  Add("sideband_power_limit_watts", {{"kind", "current"}, {"sensor", "module"}}, 900, sensors);
  const std::string uri = "/redfish/v1/Chassis/gpu~200/Sensors/";
  EXPECT_EQ(*EnvironmentMetricsJson(sensors),
            nlohmann::json({{"@odata.id", "/redfish/v1/Chassis/gpu~200/EnvironmentMetrics"},
                            {"@odata.type", "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics"},
                            {"Id", "EnvironmentMetrics"},
                            {"Name", "EnvironmentMetrics of gpu 0"},
                            {"TemperatureCelsius", {{"DataSourceUri", uri + "temperature_gpu"}, {"Reading", 61.5}}},
                            {"PowerWatts", {{"DataSourceUri", uri + "power_total"}, {"Reading", 250}}},
                            {"EnergyJoules", {{"DataSourceUri", uri + "energy_total"}, {"Reading", 7'200'000}}},
                            {"EnergykWh", {{"Reading", 2}, {"SensorResetTime", "2027-01-15T08:00:00.000Z"}}},
                            {"PowerLimitWatts", {{"SetPoint", 400}, {"AllowableMin", 150}, {"AllowableMax", 450}}}}));
}

TEST(EnvironmentMetricsTest, WithoutAValueThereIsNoResource) {
  EXPECT_EQ(EnvironmentMetricsJson(NoSensors()), std::nullopt);
  DeviceSensors sensors = NoSensors();
  Add("sideband_power_watts", {{"sensor", "memory"}}, 20, sensors);
  Add("sideband_power_watts", {{"sensor", "total"}}, std::numeric_limits<double>::quiet_NaN(), sensors);
  Add("sideband_partition_sm_activity_ratio", {{"partition", "2"}}, 0.5, sensors);
  EXPECT_EQ(EnvironmentMetricsJson(sensors), std::nullopt);
  EXPECT_EQ(ProcessorMetricsJson(sensors), std::nullopt);
  EXPECT_FALSE(ProcessorJson(ADevice(), sensors).contains("EnvironmentMetrics"));
}

TEST(ProcessorMetricsTest, ValuesOfTheWholeBoard) {
  DeviceSensors sensors = NoSensors();
  Add("sideband_board_engine_active_ratio", {}, 0.07, sensors);
  Add("sideband_temperature_margin_celsius", {{"sensor", "gpu"}}, 12.5, sensors);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "current"}}, 1.41e9, sensors);
  AddCount("sideband_pcie_link_errors_total", {{"kind", "correctable"}}, 3, 1, sensors);
  AddCount("sideband_pcie_link_errors_total", {{"kind", "recovery"}}, 4, 1, sensors);
  AddCount("sideband_pcie_link_replays_total", {}, 5, 1, sensors);
  EXPECT_EQ(
      *ProcessorMetricsJson(sensors),
      nlohmann::json({{"@odata.id", "/redfish/v1/Systems/Host/Processors/gpu~200/ProcessorMetrics"},
                      {"@odata.type", "#ProcessorMetrics.v1_4_0.ProcessorMetrics"},
                      {"Id", "ProcessorMetrics"},
                      {"Name", "ProcessorMetrics of gpu 0"},
                      {"BandwidthPercent", 7},
                      {"ThrottlingCelsius", 12.5},
                      {"OperatingSpeedMHz", 1410},
                      {"PCIeErrors", {{"CorrectableErrorCount", 3}, {"L0ToRecoveryCount", 4}, {"ReplayCount", 5}}}}));
}

}  // namespace

}  // namespace sideband::daemon
