// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/sensor_resource.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "daemon/sensors/sensor_families.h"

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

}  // namespace
}  // namespace sideband::daemon
