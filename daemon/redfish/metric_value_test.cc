// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/metric_value.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::daemon {
namespace {

using sideband::v1::Counter;
using sideband::v1::ScopeCounters;
using sideband::v1::Sensor;

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

}  // namespace
}  // namespace sideband::daemon
