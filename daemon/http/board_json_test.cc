// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/board_json.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::EccMemory;
using mailbox::MetricId;
using mailbox::MiscFlag;
using mailbox::NvlinkState;
using mailbox::PowerSource;
using mailbox::SysId;
using mailbox::TempSensor;
using mailbox::ThermParam;
using mailbox::ThrottleReason;
using nlohmann::json;

constexpr absl::Duration kAsked = absl::Seconds(1000);

json JsonOf(const BoardReading& reading) { return BoardJson(reading, kAsked); }

RunningCount Count(uint64_t value) { return {.value = value}; }

mailbox::DriverEvent Message(uint16_t xid, const std::string& text) { return {.xid = xid, .time_s = 7, .text = text}; }

TEST(BoardJsonTest, WhatIsUnknownIsAbsent) {
  EXPECT_EQ(JsonOf({}), json::object());
  BoardReading reading;
  reading.power_limits.limits[PowerSource::kTotal] = {.current = 400};
  reading.clock_limits.throttle_supported = mailbox::MaskOf(ThrottleReason::kSyncBoost);
  reading.clock_limits.maximum_mhz = {{BoardClock::kGraphics, 1980}};
  reading.metrics.scopes[{}] = {};
  reading.metrics.scopes[{.partition = 1}] = {};
  EXPECT_EQ(JsonOf(reading), json::object()) << "limits of what is not known";
}

TEST(BoardJsonTest, Identity) {
  BoardReading reading;
  reading.identity.items = {{SysId::kMarketingName, "Board"}, {SysId::kSerialNumber, "165"}};
  reading.identity.driver_version = "550.54";
  EXPECT_EQ(JsonOf(reading), json::parse(R"({"name": "Board", "driver": "550.54"})"));
}

TEST(BoardJsonTest, TemperaturesAndThresholds) {
  BoardReading reading;
  reading.temperature.celsius = {{TempSensor::kMemory, 70}, {TempSensor::kGpu0, 61.5}};
  reading.thresholds.celsius = {{ThermParam::kSlowdown, 90}, {ThermParam::kShutdownTLimit, -7}};
  reading.margin.celsius = 25.5;
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "temperatures": [{"name": "GPU0", "value": 61.5}, {"name": "memory", "value": 70.0}],
      "thresholds": [{"name": "HW slowdown", "value": 90.0}],
      "margin": 25.5,
      "margin_thresholds": [{"name": "shutdown", "value": -7.0}]})"));
}

TEST(BoardJsonTest, ABoardIsHotFromItsThresholdsOn) {
  const auto is_hot = [](TempSensor sensor, double celsius, ThermParam threshold) {
    BoardReading reading;
    reading.temperature.celsius = {{sensor, celsius}};
    reading.thresholds.celsius = {{threshold, 90}};
    return JsonOf(reading).contains("is_hot");
  };
  EXPECT_TRUE(is_hot(TempSensor::kGpu0, 90, ThermParam::kSlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kGpu0, 89.9, ThermParam::kSlowdown));
  EXPECT_TRUE(is_hot(TempSensor::kGpu0, 90, ThermParam::kSoftwareSlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kGpu0, 95, ThermParam::kTarget));
  EXPECT_TRUE(is_hot(TempSensor::kMemory, 90, ThermParam::kMemorySlowdown));
  EXPECT_FALSE(is_hot(TempSensor::kMemory, 95, ThermParam::kSlowdown)) << "of another part";
  BoardReading reading;
  reading.margin.celsius = 0;
  EXPECT_TRUE(JsonOf(reading).contains("is_hot"));
}

TEST(BoardJsonTest, PowersHaveTheLimitInForce) {
  BoardReading reading;
  reading.power.watts = {{PowerSource::kTotal, 412.5}, {PowerSource::kSmbpbi, 1}, {PowerSource::kModule, 0}};
  reading.power_limits.limits = {{PowerSource::kTotal, {.current = 400, .maximum = 700}},
                                 {PowerSource::kModule, {.maximum = 1000}}};
  EXPECT_EQ(JsonOf(reading)["powers"],
            json::parse(R"([{"name": "total", "value": 412.5, "limit": 400.0}, {"name": "module", "value": 0.0}])"));
}

TEST(BoardJsonTest, ClocksAndThrottling) {
  BoardReading reading;
  reading.clocks = {.current_mhz = {{BoardClock::kGraphics, 1410}, {BoardClock::kMemory, 2619}},
                    .performance_state = 0,
                    .throttle_active = mailbox::MaskOf(ThrottleReason::kHardwareThermal) | 1u << 31};
  reading.clock_limits.maximum_mhz = {{BoardClock::kGraphics, 1980}};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "clocks": [{"name": "graphics", "value": 1.41e9, "maximum": 1.98e9}, {"name": "memory", "value": 2.619e9}],
      "performance_state": 0,
      "throttling": ["HW thermal"]})"));
  reading.clocks.throttle_active = 0;
  EXPECT_EQ(JsonOf(reading)["throttling"], json::array()) << "known: for no reason";
}

TEST(BoardJsonTest, MemoryAndItsErrors) {
  BoardReading reading;
  reading.memory = {.used_mib = 1, .total_mib = 1 << 24};
  reading.ecc = {.corrected = {{EccMemory::kDram, Count(18'446'744'073'709'551'615u)}},
                 .uncorrected = {{EccMemory::kSram, Count(0)}, {EccMemory::kDram, Count(2)}}};
  reading.row_remaps = {.uncorrected = Count(3), .has_excess = true, .is_pending = false};
  reading.retired_pages = {.double_bit = 255};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "memory": {"used": 1048576.0, "total": 17592186044416.0},
      "ecc": [{"name": "SRAM", "uncorrected": "0"},
              {"name": "DRAM", "corrected": "18446744073709551615", "uncorrected": "2"}],
      "remapped_rows": {"uncorrected": "3", "is_pending": false, "has_excess": true},
      "retired_pages": {"double_bit": 255}})"));
}

TEST(BoardJsonTest, NvlinksThatAreDisabledAreNotDown) {
  BoardReading reading;
  reading.nvlink.links = {{.is_up = true, .replays = Count(1), .data_crc = Count(4)},
                          {.is_up = false, .recoveries = Count(2)},
                          {.is_up = false, .state = NvlinkState::kDisabled},
                          {.is_up = false, .state = NvlinkState::kOff},
                          {}};
  EXPECT_EQ(JsonOf(reading)["nvlinks"], json::parse(R"({"count": 5, "up": 1, "down": [1, 3], "errors": "7"})"));
  reading.nvlink.links = {{}, {}};
  EXPECT_EQ(JsonOf(reading)["nvlinks"], json::parse(R"({"count": 2})"));
}

TEST(BoardJsonTest, Pcie) {
  BoardReading reading;
  reading.pcie = {.generation = 5,
                  .lanes = 16,
                  .non_fatal = Count(1),
                  .correctable = Count(4),
                  .recoveries = Count(9),
                  .replays = Count(6)};
  EXPECT_EQ(JsonOf(reading)["pcie"], json::parse(R"({"generation": 5, "lanes": 16, "errors": "5", "replays": "6"})"));
}

TEST(BoardJsonTest, AttentionIsForWhatNeedsAnOperator) {
  BoardReading reading;
  reading.flags.flags = {
      {MiscFlag::kResetRequired, false}, {MiscFlag::kEccCurrent, true}, {MiscFlag::kDriverRuns, true}};
  reading.flags.fabric_manager = 1;
  reading.row_remaps = {.is_pending = false, .has_failed = false};
  reading.ecc.sram_threshold_exceeded = false;
  EXPECT_FALSE(JsonOf(reading).contains("attention"));
  reading.flags.flags = {{MiscFlag::kResetRequired, true}, {MiscFlag::kDrainRecommended, true}};
  reading.flags.fabric_manager = 3;
  reading.row_remaps = {.is_pending = true, .has_failed = true};
  reading.ecc.sram_threshold_exceeded = true;
  EXPECT_EQ(JsonOf(reading)["attention"],
            json({"reset required", "drain and reset recommended", "the fabric manager has an error",
                  "a row waits for its replacement, which needs a reset", "the replacement of a row has failed",
                  "SRAM errors above the vendor's threshold"}));
}

TEST(BoardJsonTest, TheNewestMessagesComeFirst) {
  BoardReading reading;
  for (uint16_t xid = 1; xid <= kMessagesShown + 1; ++xid)
    reading.driver_messages.messages.push_back(Message(xid, "x"));
  reading.driver_messages.taken = 70;
  const json board = JsonOf(reading);
  ASSERT_EQ(board["messages"].size(), kMessagesShown);
  EXPECT_EQ(board["messages"].front(), json::parse(R"({"xid": 6, "time": 7, "text": "x"})"));
  EXPECT_EQ(board["messages"].back()["xid"], 2);
  EXPECT_EQ(board["messages_taken"], "70");
}

TEST(BoardJsonTest, TextsOfTheBoardStayTexts) {
  BoardReading reading;
  const std::string hostile = "\"}],</script><img src=x onerror=alert(1)>\\";
  reading.driver_messages.messages = {Message(31, hostile)};
  reading.identity.items = {{SysId::kMarketingName, hostile}};
  const json board = json::parse(JsonOf(reading).dump());
  EXPECT_EQ(board["messages"][0]["text"], hostile);
  EXPECT_EQ(board["name"], hostile);
}

TEST(BoardJsonTest, RatiosOfTheDeviceAndOfPartitions) {
  BoardReading reading;
  auto& scopes = reading.metrics.scopes;
  scopes[{}] = {.ratios = {{MetricId::kSmActivity, 0.375}}, .bytes_per_second = {{MetricId::kPcieTx, 1}}};
  scopes[{.partition = 2}] = {.ratios = {{MetricId::kSmActivity, 1}}};
  scopes[{.partition = 2, .compute_instance = 0}] = {.ratios = {{MetricId::kDramUsage, 0}}};
  EXPECT_EQ(JsonOf(reading), json::parse(R"({
      "ratios": [{"name": "SM activity", "value": 0.375}],
      "partitions": [{"partition": 2, "ratios": [{"name": "SM activity", "value": 1.0}]},
                     {"partition": 2, "instance": 0, "ratios": [{"name": "DRAM usage", "value": 0.0}]}]})"));
}

TEST(BoardJsonTest, TheOldestGroupIsOfThoseThatAreReadAgain) {
  BoardReading reading;
  reading.samples[BoardGroup::kIdentity].steady = kAsked - absl::Seconds(900);
  EXPECT_FALSE(JsonOf(reading).contains("oldest"));
  reading.samples[BoardGroup::kTemperature].steady = kAsked - absl::Seconds(1);
  reading.samples[BoardGroup::kEcc].steady = kAsked - absl::Milliseconds(29'500);
  EXPECT_EQ(JsonOf(reading)["oldest"], json::parse(R"({"name": "ecc", "age": 29.5})"));
  reading.samples = {{BoardGroup::kPower, {.steady = kAsked + absl::Milliseconds(1)}}};
  EXPECT_EQ(JsonOf(reading)["oldest"]["age"], 0.0) << "newer than the caller's time";
}

}  // namespace
}  // namespace sideband::daemon
