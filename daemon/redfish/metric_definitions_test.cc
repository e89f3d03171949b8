// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/metric_definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using sideband::v1::Event;
using sideband::v1::Sensor;
using testing::ElementsAre;

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

}  // namespace
}  // namespace sideband::daemon
