// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/quantities.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

struct PlaceCase {
  const char* property;
  const char* gpu;
  BmcResource resource;
  const char* member;
};

TEST(LocateTest, FindsTheGpuAndTheMember) {
  for (const PlaceCase& of : {
           PlaceCase{"/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_0", "GPU_0", BmcResource::kSensor, "temp_0"},
           PlaceCase{"/redfish/v1/Chassis/HGX_GPU_SXM_3/Sensors/HGX_GPU_SXM_3_Temp_0/", "GPU_SXM_3",
                     BmcResource::kSensor, "temp_0"},
           PlaceCase{"/hmc/redfish/v1/Chassis/GPU_0/Sensors/GPU_0_Power_0#/Reading", "GPU_0", BmcResource::kSensor,
                     "power_0"},
           PlaceCase{"/redfish/v1/Chassis/OAM_7/Sensors/GPU_7_DIE_TEMP/Reading", "GPU7", BmcResource::kSensor,
                     "die_temp"},
           PlaceCase{"/redfish/v1/Chassis/OAM_7/PCIeDevices/7#/PCIeErrors/ReplayCount", "GPU7",
                     BmcResource::kPcieDevice, "pcieerrors/replaycount"},
           PlaceCase{"/redfish/v1/Chassis/HGX_GPU_1/PCIeDevices/GPU_1#/PCIeInterface/LanesInUse", "GPU_1",
                     BmcResource::kPcieDevice, "pcieinterface/lanesinuse"},
           PlaceCase{
               "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/ProcessorMetrics#/Oem/Nvidia/SMActivityPercent",
               "GPU_0", BmcResource::kProcessorMetrics, "oem/nvidia/smactivitypercent"},
           PlaceCase{"/redfish/v1/Systems/UBB/Processors/GPU3/ProcessorMetrics#BandwidthPercent", "GPU3",
                     BmcResource::kProcessorMetrics, "bandwidthpercent"},
           PlaceCase{"/redfish/v1/Systems/UBB/Memory/GPU3/MemoryMetrics#/OperatingSpeedMhz", "GPU3",
                     BmcResource::kMemoryMetrics, "operatingspeedmhz"},
           PlaceCase{"/redfish/v1/Systems/HGX_Baseboard_0/Memory/GPU_0_DRAM_0#/Oem/Nvidia/RowRemappingFailed", "GPU_0",
                     BmcResource::kMemory, "oem/nvidia/rowremappingfailed"},
           PlaceCase{"/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0#/Model", "GPU_0", BmcResource::kProcessor,
                     "model"},
           PlaceCase{"/redfish/v1/Chassis/HGX_GPU_0#/Status/Health", "GPU_0", BmcResource::kChassis, "status/health"},
           PlaceCase{"/redfish/v1/Chassis/GPU_SXM_3/#Status/HealthRollup", "GPU_SXM_3", BmcResource::kChassis,
                     "status/healthrollup"},
       }) {
    const Located located = Locate(of.property);
    ASSERT_TRUE(located.place.has_value()) << of.property;
    EXPECT_EQ(located.place->gpu, of.gpu) << of.property;
    EXPECT_EQ(located.place->resource, of.resource) << of.property;
    EXPECT_EQ(located.place->member, of.member) << of.property;
    EXPECT_EQ(located.place->index, std::nullopt) << of.property;
  }
}

TEST(LocateTest, SplitsTheIndexOff) {
  const Located located =
      Locate("/redfish/v1/Systems/S/Processors/GPU_0/ProcessorMetrics#/Oem/Nvidia/ThrottleReasons/1");
  ASSERT_TRUE(located.place.has_value());
  EXPECT_EQ(located.place->member, "oem/nvidia/throttlereasons");
  EXPECT_EQ(located.place->index, 1);
}

TEST(LocateTest, FindsTheLink) {
  const std::string port = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_17";
  const Located speed = Locate(port + "#/CurrentSpeedGbps"), bytes = Locate(port + "/Metrics#/TXBytes");
  ASSERT_TRUE(speed.place && bytes.place);
  EXPECT_EQ(speed.place->gpu, "GPU_0");
  EXPECT_EQ(speed.place->resource, BmcResource::kPort);
  EXPECT_EQ(speed.place->index, 17);
  EXPECT_EQ(bytes.place->resource, BmcResource::kPortMetrics);
  EXPECT_EQ(bytes.place->member, "txbytes");
  EXPECT_EQ(bytes.place->index, 17);
  EXPECT_TRUE(Locate(port + "/Metrics").has_no_member);
}

TEST(LocateTest, SaysWhereTheMemberIsMissing) {
  const Located located = Locate("/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/ProcessorMetrics");
  EXPECT_FALSE(located.place.has_value());
  EXPECT_TRUE(located.has_no_member);
}

TEST(LocateTest, KnowsNothingElse) {
  for (const char* const property :
       {"",
        "/",
        "#",
        "##",
        "/redfish/v1",
        "/redfish/v1/Chassis/HGX_GPU_0/Sensors",
        "/redfish/v1/Chassis/HGX_GPU_0",
        "/redfish/v1/Chassis/HGX_GPU_0#/",
        "/redfish/v1/Chassis/HGX_Chassis_0#/Status/Health",
        "/redfish/v1/Systems/HGX_GPU_0#/Status/Health",
        "/redfish/v1/Chassis/HGX_Chassis_0/Sensors/HGX_Chassis_0_TotalGPU_Power_0",
        "/redfish/v1/Chassis/OAM_0/Sensors/GPU_TOTAL_POWER/Reading",
        "/redfish/v1/Chassis/OAM_x/Sensors/GPU_x_POWER",
        "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_1_TEMP_0",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/CPU_0/ProcessorMetrics#/OperatingSpeedMHz",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/PCIe_0/Metrics#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_32/Metrics#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_+3/Metrics#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_/Metrics#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_03/Metrics#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_3/Metrics#/RXBytes/7",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/NVLink_3/Other#/RXBytes",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports#/CurrentSpeedGbps/255",
        "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_0/Ports/Metrics#/TXBytes",
        "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_0#/Thresholds/UpperCritical/Reading"}) {
    const Located located = Locate(property);
    EXPECT_FALSE(located.place.has_value()) << property;
    EXPECT_FALSE(located.has_no_member) << property;
  }
}

const BmcQuantity& Row(BmcVendor vendor, const char* property) {
  const BmcQuantity* const row = FindQuantity(vendor, *Locate(property).place);
  EXPECT_NE(row, nullptr) << property;
  return *row;
}
const BmcQuantity& Temperature() {
  return Row(BmcVendor::kNvidia, "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_0");
}

TEST(BmcQuantityTest, EachPlaceHasOneRow) {
  std::set<std::tuple<BmcVendor, BmcResource, std::string>> places;
  for (const BmcQuantity& row : BmcQuantities()) {
    EXPECT_TRUE(places.emplace(row.vendor, row.resource, row.member).second) << row.member;
    EXPECT_LE(row.min, row.max) << row.member;
    EXPECT_NE(row.set, nullptr) << row.member;
  }
}

TEST(BmcQuantityTest, OnlyListsAndPortsHaveAnIndex) {
  const std::string metrics = "/redfish/v1/Systems/S/Processors/GPU_0/ProcessorMetrics#/";
  EXPECT_EQ(FindQuantity(BmcVendor::kNvidia, *Locate(metrics + "PCIeErrors/ReplayCount/3").place), nullptr);
  EXPECT_NE(FindQuantity(BmcVendor::kNvidia, *Locate(metrics + "Oem/Nvidia/ThrottleReasons/3").place), nullptr);
}

TEST(BmcQuantityTest, ALinkMayHaveCarriedMuch) {
  const BmcQuantity& row =
      Row(BmcVendor::kNvidia, "/redfish/v1/Systems/S/Processors/GPU_0/Ports/NVLink_1/Metrics#/TXBytes");
  EXPECT_EQ(ParseSample(row, "9000000000000002").counter, 9'000'000'000'000'002u);
  EXPECT_TRUE(ParseSample(row, "18446744073709551615").omission.has_value());
}

TEST(BmcQuantityTest, TheMarginIsNoTemperature) {
  BoardReading reading;
  const BmcQuantity& row = Row(BmcVendor::kNvidia, "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_TEMP_1");
  row.set(ParseSample(row, "54.0625").sample, reading);
  EXPECT_TRUE(reading.temperature.celsius.empty());
  EXPECT_EQ(reading.margin.celsius, 54.0625);
}

TEST(BmcQuantityTest, HasTheUnitsOfReadings) {
  BoardReading reading;
  const auto take = [&](const char* property, const char* text) {
    const BmcQuantity& row = Row(BmcVendor::kNvidia, property);
    row.set(ParseSample(row, text).sample, reading);
  };
  const std::string metrics = "/redfish/v1/Systems/S/Processors/GPU_0/ProcessorMetrics#/Oem/Nvidia/";
  take((metrics + "TensorCoreActivityPercent").c_str(), "25.5");
  take((metrics + "PCIeRawTxBandwidthGbps").c_str(), "8");
  const MetricValues& whole = reading.metrics.scopes.at({});
  EXPECT_DOUBLE_EQ(whole.ratios.at(mailbox::MetricId::kTensorActivity), 0.255);
  EXPECT_DOUBLE_EQ(whole.bytes_per_second.at(mailbox::MetricId::kPcieTx), 1e9);
  const BmcQuantity& energy = Row(BmcVendor::kNvidia, "/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_Energy_0");
  EXPECT_EQ(ParseSample(energy, "230133110.593000").counter, 230'133'110'593u);
}

TEST(BmcQuantityTest, LeavesOutWhatIsNotKnown) {
  const BmcQuantity& row = Temperature();
  for (const auto& [text, why] : {std::pair("", BmcOmission::kNull),
                                  {"nan", BmcOmission::kNotANumber},
                                  {"inf", BmcOmission::kNotANumber},
                                  {"warm", BmcOmission::kNotANumber},
                                  {"1e999", BmcOmission::kNotANumber},
                                  {"31463", BmcOmission::kOutOfRange},
                                  {"-273", BmcOmission::kOutOfRange},
                                  {"4294967295", BmcOmission::kOutOfRange}}) {
    EXPECT_EQ(ParseSample(row, text).omission, why) << text;
  }
  EXPECT_EQ(ParseSample(row, "32.9375").omission, std::nullopt);
  EXPECT_EQ(ParseSample(row, "32.9375").sample.number, 32.9375);
}

TEST(BmcQuantityTest, WhatStandsForUnknownIsLeftOut) {
  const std::string gpu = "/redfish/v1/Systems/S/Processors/GPU_0", dram = "/redfish/v1/Systems/S/Memory/GPU_0_DRAM_0";
  for (const auto& [property, text] : {
           std::pair(gpu + "/ProcessorMetrics#/PCIeErrors/ReplayCount", "4294967295"),
           {gpu + "/ProcessorMetrics#/CacheMetricsTotal/LifeTime/UncorrectableECCErrorCount", "4294967295"},
           {gpu + "/ProcessorMetrics#/PowerLimitThrottleDuration", "PT4294967295S"},
           {gpu + "/ProcessorMetrics#/OperatingSpeedMHz", "65535"},
           {gpu + "/ProcessorMetrics#/OperatingSpeedMHz", "4294967295"},
           {gpu + "#/MaxSpeedMHz", "65535"},
           {gpu + "#/MinSpeedMHz", "0"},
           {gpu + "#/MemorySummary/TotalMemorySizeMiB", "0"},
           {gpu + "/EnvironmentMetrics#/PowerLimitWatts/SetPoint", "65535"},
           {gpu + "/EnvironmentMetrics#/PowerLimitWatts/AllowableMax", "4294967295"},
           {gpu + "/Ports/NVLink_0/Metrics#/RXErrors", "4294967295"},
           {gpu + "/Ports/NVLink_0/Metrics#/TXBytes", "4294967295"},
           {dram + "/MemoryMetrics#/OperatingSpeedMHz", "65535"},
           {dram + "/MemoryMetrics#/LifeTime/CorrectableECCErrorCount", "4294967295"},
           {std::string("/redfish/v1/Chassis/HGX_GPU_0/PCIeDevices/GPU_0#/PCIeInterface/LanesInUse"), "65535"},
           {std::string("/redfish/v1/Chassis/HGX_GPU_0/Sensors/HGX_GPU_0_Energy_0"), "4294967295"},
       }) {
    EXPECT_EQ(ParseSample(Row(BmcVendor::kNvidia, property.c_str()), text).omission, BmcOmission::kOutOfRange)
        << property;
  }
  // Its neighbours are counts.
  const BmcQuantity& row = Row(BmcVendor::kNvidia, (gpu + "/ProcessorMetrics#/PCIeErrors/ReplayCount").c_str());
  EXPECT_EQ(ParseSample(row, "4294967294").counter, 4'294'967'294u);
  EXPECT_EQ(ParseSample(row, "4294967296").counter, 4'294'967'296u);
}

TEST(BmcQuantityTest, WhatIsWrongInFirmwareHasNoRow) {
  const std::string gpu = "/redfish/v1/Systems/S/Processors/GPU_0";
  for (const char* const member : {
           "/ProcessorMetrics#/Oem/Nvidia/PCIeTXBytes",
           "/ProcessorMetrics#/Oem/Nvidia/PCIeRXBytes",
           "/ProcessorMetrics#/Oem/Nvidia/SMUtilizationPercent",
           "/ProcessorMetrics#/Oem/Nvidia/AccumulatedGPUContextUtilizationDuration",
           "/ProcessorMetrics#/Oem/Nvidia/AccumulatedSMUtilizationDuration",
           "/ProcessorMetrics#/BandwidthPercent",
           "/EnvironmentMetrics#/PowerLimitWatts/Reading",
           "/EnvironmentMetrics#/TemperatureCelsius/Reading",
           "/EnvironmentMetrics#/TemperatureCelsius",
           "/EnvironmentMetrics#/PowerWatts/Reading",
           "/EnvironmentMetrics#/EnergyJoules/Reading",
           "/Ports/NVLink_0/Metrics#/Oem/Nvidia/BitErrorRate",
           "/Ports/NVLink_0/Metrics#/Oem/Nvidia/TotalRawBER",
           "/Ports/NVLink_0/Metrics#/Oem/Nvidia/EffectiveBER",
           "/Ports/NVLink_0/Metrics#/Oem/Nvidia/IntentionalLinkDownCount",
           "/Ports/NVLink_0/Metrics#/Oem/Nvidia/TXWait",
       }) {
    for (const BmcVendor vendor : {BmcVendor::kNvidia, BmcVendor::kAmd}) {
      const Located located = Locate(gpu + member);
      ASSERT_TRUE(located.place.has_value()) << member;
      EXPECT_EQ(FindQuantity(vendor, *located.place), nullptr) << member;
    }
  }
}

TEST(BmcQuantityTest, SensorsHaveUnits) {
  for (const BmcQuantity& row : BmcQuantities()) {
    const bool is_sensor = row.resource == BmcResource::kSensor;
    ASSERT_EQ(row.unit != nullptr, is_sensor) << row.member;
    if (!is_sensor) continue;
    const char* const unit = row.group == BoardGroup::kPower ? "W" : row.group == BoardGroup::kEnergy ? "J" : "Cel";
    EXPECT_STREQ(row.unit, unit) << row.member;
  }
}

TEST(BmcQuantityTest, HealthIsAWordAndTheWorstCounts) {
  for (const BmcVendor vendor : {BmcVendor::kNvidia, BmcVendor::kAmd}) {
    const BmcQuantity& health = Row(vendor, "/redfish/v1/Systems/S/Processors/GPU_0#/Status/Health");
    const BmcQuantity& rollup = Row(vendor, "/redfish/v1/Systems/S/Processors/GPU_0#/Status/HealthRollup");
    for (const auto& [of_gpu, of_parts, worst] : {std::tuple("OK", "ok", BoardHealth::kOk),
                                                  {"OK", "Warning", BoardHealth::kWarning},
                                                  {"Warning", "OK", BoardHealth::kWarning},
                                                  {"CRITICAL", "Warning", BoardHealth::kCritical}}) {
      BoardReading reading;
      health.set(ParseSample(health, of_gpu).sample, reading);
      rollup.set(ParseSample(rollup, of_parts).sample, reading);
      EXPECT_EQ(reading.health.worst, worst) << of_gpu << of_parts;
    }
    EXPECT_EQ(ParseSample(health, "Fine").omission, BmcOmission::kUnknownWord);
    EXPECT_EQ(ParseSample(health, "").omission, BmcOmission::kNull);
  }
}

TEST(BmcQuantityTest, ThrottleReasonsAreWords) {
  const BmcQuantity& row =
      Row(BmcVendor::kNvidia, "/redfish/v1/Systems/S/Processors/GPU_0/ProcessorMetrics#/Oem/Nvidia/ThrottleReasons/0");
  BoardReading reading;
  row.set(ParseSample(row, "NA").sample, reading);
  EXPECT_EQ(reading.clocks.throttle_active, 0u);
  row.set(ParseSample(row, "SWPowerCap").sample, reading);
  row.set(ParseSample(row, "HWThermalSlowdown").sample, reading);
  EXPECT_EQ(reading.clocks.throttle_active, 0b101u);
  EXPECT_EQ(reading.clock_limits.throttle_supported, 0b111111u);
  EXPECT_EQ(ParseSample(row, "Tired").omission, BmcOmission::kUnknownWord);
}

TEST(BmcQuantityTest, DurationsAreThoseOfIso8601) {
  const BmcQuantity& row =
      Row(BmcVendor::kNvidia, "/redfish/v1/Systems/S/Processors/GPU_0/ProcessorMetrics#/ThermalLimitThrottleDuration");
  for (const auto& [text, milliseconds] : {std::pair("P6DT23H36M51.224568128S", 603'411'225u),
                                           {"PT0S", 0u},
                                           {"P1D", 86'400'000u},
                                           {"PT1.5H", 5'400'000u}}) {
    EXPECT_EQ(ParseSample(row, text).counter, milliseconds) << text;
  }
  for (const char* const text :
       {"P", "PT", "5", "PT5", "P5M", "P5S", "PT5D", "PT1S1H", "PT1H1H", "P1T", "PT-1S", "1S"}) {
    EXPECT_EQ(ParseSample(row, text).omission, BmcOmission::kNotANumber) << text;
  }
  // Firmware that takes nanoseconds for milliseconds.
  EXPECT_EQ(ParseSample(row, "P546663DT15H46M40S").omission, BmcOmission::kOutOfRange);
}

TEST(BmcQuantityTest, TextsArePrintable) {
  const BmcQuantity& row = Row(BmcVendor::kNvidia, "/redfish/v1/Systems/S/Processors/GPU_0#/SerialNumber");
  EXPECT_EQ(ParseSample(row, "1321").sample.text, "1321");
  for (const char* const placeholder : {"", "NA", "0x0000000000000000", "00000000000000"}) {
    EXPECT_EQ(ParseSample(row, placeholder).omission, BmcOmission::kNull) << placeholder;
  }
  EXPECT_EQ(ParseSample(row, "a\nb").omission, BmcOmission::kOutOfRange);
  EXPECT_EQ(ParseSample(row, std::string(200, 'y')).omission, BmcOmission::kOutOfRange);
}

}  // namespace
}  // namespace sideband::daemon
