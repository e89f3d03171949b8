// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "daemon/board/board_groups.h"
#include "daemon/exposition/exposition.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {
namespace {

using mailbox::BoardClock;
using mailbox::EccMemory;
using mailbox::MetricId;
using mailbox::MiscFlag;
using mailbox::PowerSource;
using mailbox::SysId;
using mailbox::TempSensor;
using mailbox::ThermParam;
using mailbox::ThrottleReason;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr absl::Duration kNow = absl::Seconds(1000);

RunningCount Count(uint64_t value) { return {.value = value, .created = absl::FromUnixMillis(1'700'000'000'250)}; }

std::string TextOf(const BoardReading& reading, MetricsFormat format = MetricsFormat::kText) {
  return BoardFamiliesText(format, {{"gpu0", std::make_shared<const BoardReading>(reading)}}, kNow);
}

void FillThermal(BoardReading& reading) {
  reading.temperature.celsius = {{TempSensor::kGpu0, 61.5},
                                 {TempSensor::kGpu1, 60},
                                 {TempSensor::kBoard, -0.5},
                                 {TempSensor::kMemory, 70},
                                 {TempSensor::kPowerSupply, 40.25}};
  reading.margin.celsius = 25.5;
  reading.thresholds.celsius = {{ThermParam::kShutdown, 95}, {ThermParam::kMemorySlowdownTLimit, 3}};
  reading.power.watts = {{PowerSource::kTotal, 412.345}, {PowerSource::kMemory, 60}, {PowerSource::kModule, 500}};
  reading.energy.millijoules = {{PowerSource::kTotal, Count(9'007'199'254'740'993)}, {PowerSource::kModule, Count(5)}};
  reading.power_limits.limits = {
      {PowerSource::kTotal, {.current = 400, .minimum = 100, .maximum = 700, .standard = 700}},
      {PowerSource::kModule, {.maximum = 1000}}};
}

void FillClocks(BoardReading& reading) {
  reading.clocks = {.current_mhz = {{BoardClock::kGraphics, 1410}, {BoardClock::kMemory, 2619}},
                    .performance_state = 0,
                    .throttle_active = mailbox::MaskOf(ThrottleReason::kHardwareThermal)};
  reading.clock_limits = {.minimum_mhz = {{BoardClock::kGraphics, 210}},
                          .maximum_mhz = {{BoardClock::kGraphics, 1980}},
                          .throttle_supported = mailbox::MaskOf(ThrottleReason::kSoftwarePowerCap) |
                                                mailbox::MaskOf(ThrottleReason::kHardwareThermal)};
  reading.violations.counts = {{mailbox::Violation::kHardware, Count(1)},
                               {mailbox::Violation::kSoftwareThermal, Count(4)}};
  reading.violations.milliseconds = {{SpeedLimit::kPower, Count(1500)}, {SpeedLimit::kSoftware, Count(2)}};
}

void FillMemory(BoardReading& reading) {
  reading.memory = {.used_mib = 1024, .reserved_mib = 1, .total_mib = 1 << 24};
  reading.ecc = {.corrected = {{EccMemory::kSram, Count(2)}, {EccMemory::kDram, Count(3)}},
                 .uncorrected = {{EccMemory::kDram, Count(0)}},
                 .sram_threshold_exceeded = false};
  reading.row_remaps = {
      .corrected = Count(1), .uncorrected = Count(2047), .has_excess = true, .is_pending = true, .has_failed = false};
  reading.retired_pages = {.single_bit = 4, .double_bit = 255};
}

void FillLinks(BoardReading& reading) {
  reading.pcie = {.generation = 5,
                  .target_generation = 5,
                  .lanes = 16,
                  .non_fatal = Count(1),
                  .fatal = Count(2),
                  .unsupported = Count(3),
                  .correctable = Count(4),
                  .recoveries = Count(5),
                  .replays = Count(6),
                  .replay_rollovers = Count(7),
                  .naks_received = Count(8),
                  .naks_sent = Count(9)};
  reading.nvlink.links = {{.is_up = true,
                           .bits_per_second = 106'250'000'000,
                           .replays = Count(1),
                           .recoveries = Count(2),
                           .flit_crc = Count(3),
                           .data_crc = Count(4),
                           .data_tx = Count(5),
                           .data_rx = Count(6),
                           .raw_tx = Count(7),
                           .raw_rx = Count(8),
                           .data_tx_rate = 1e9,
                           .data_rx_rate = 2e9,
                           .raw_tx_rate = 3e9,
                           .raw_rx_rate = 4e9},
                          {.is_up = false, .downs = Count(9), .rx = Count(10)}};
  reading.decoders.ratios = {{{MetricId::kNvdecPerInstance, 0}, 0.5},
                             {{MetricId::kNvdecPerInstance, 6}, 1},
                             {{MetricId::kNvjpgPerInstance, 0}, 0}};
}

void FillState(BoardReading& reading) {
  reading.health.worst = BoardHealth::kWarning;
  reading.identity.items = {{SysId::kBoardPartNumber, "900-1"}, {SysId::kSerialNumber, "165\"\\7"}};
  reading.identity.driver_version = "550.54";
  reading.flags.flags = {{MiscFlag::kEccCurrent, true},     {MiscFlag::kMigCurrent, false},
                         {MiscFlag::kDriverRuns, true},     {MiscFlag::kDeviceDisabled, false},
                         {MiscFlag::kResetRequired, false}, {MiscFlag::kDrainRecommended, true}};
  reading.events.counts = {{mailbox::BoardEvent::kColdRestart, Count(1)},
                           {mailbox::BoardEvent::kResetRequired, Count(0)}};
  reading.driver_messages.counts = {{48, Count(1)}, {79, Count(2)}};
  reading.driver_messages.other = Count(3);
  reading.samples[BoardGroup::kTemperature].steady = kNow - absl::Milliseconds(1500);
  reading.samples[BoardGroup::kPowerLimits].steady = kNow + absl::Milliseconds(1);
}

void FillMetrics(BoardReading& reading) {
  auto& scopes = reading.metrics.scopes;
  scopes[{}] = {.ratios = {{MetricId::kSmActivity, 0.375}}, .bytes_per_second = {{MetricId::kPcieTx, 1 << 20}}};
  scopes[{.partition = 2}] = {.ratios = {{MetricId::kSmActivity, 1}}};
  scopes[{.partition = 2, .compute_instance = 0}] = {.ratios = {{MetricId::kSmActivity, 0}},
                                                     .bytes_per_second = {{MetricId::kNvlinkRawRx, 3e9}}};
}

BoardReading FullReading() {
  BoardReading reading;
  for (auto* const fill : {FillThermal, FillClocks, FillMemory, FillLinks, FillState, FillMetrics}) fill(reading);
  return reading;
}

// After an intended change, copy the expected text from the test's output.
constexpr char kText[] =
    R"(# HELP sideband_board_events_total Events that the board has raised since the daemon began to read it.
# TYPE sideband_board_events_total counter
sideband_board_events_total{device="gpu0",event="cold_restart"} 1
sideband_board_events_total{device="gpu0",event="reset_required"} 0
# HELP sideband_board_health 1 for what the BMC says of the GPU's health, else 0.
# TYPE sideband_board_health gauge
sideband_board_health{device="gpu0",state="ok"} 0
sideband_board_health{device="gpu0",state="warning"} 1
sideband_board_health{device="gpu0",state="critical"} 0
# HELP sideband_board_info 1, with the identity of the board.
# TYPE sideband_board_info gauge
sideband_board_info{device="gpu0",part_number="900-1",serial="165\"\\7",driver_version="550.54"} 1
# HELP sideband_board_nvdec_per_instance_ratio Share of the time in which a video decoder was active, between the latest two captures of metrics.
# TYPE sideband_board_nvdec_per_instance_ratio gauge
sideband_board_nvdec_per_instance_ratio{device="gpu0",decoder="0"} 0.5
sideband_board_nvdec_per_instance_ratio{device="gpu0",decoder="6"} 1
# HELP sideband_board_nvjpg_per_instance_ratio Share of the time in which a JPEG decoder was active, between the latest two captures of metrics.
# TYPE sideband_board_nvjpg_per_instance_ratio gauge
sideband_board_nvjpg_per_instance_ratio{device="gpu0",decoder="0"} 0
# HELP sideband_board_pcie_tx_bytes_per_second Bytes sent by PCIe, of the whole device.
# TYPE sideband_board_pcie_tx_bytes_per_second gauge
sideband_board_pcie_tx_bytes_per_second{device="gpu0"} 1048576
# HELP sideband_board_sample_age_seconds How long ago a group of the board's sensors was read.
# TYPE sideband_board_sample_age_seconds gauge
sideband_board_sample_age_seconds{device="gpu0",sensor_group="temperature"} 1.5
sideband_board_sample_age_seconds{device="gpu0",sensor_group="power_limits"} 0
# HELP sideband_board_sm_activity_ratio Share of the time in which an SM had work, of the whole device.
# TYPE sideband_board_sm_activity_ratio gauge
sideband_board_sm_activity_ratio{device="gpu0"} 0.375
# HELP sideband_clock_hertz Frequency of a clock of the board, and its range.
# TYPE sideband_clock_hertz gauge
sideband_clock_hertz{device="gpu0",clock="graphics",kind="current"} 1410000000
sideband_clock_hertz{device="gpu0",clock="graphics",kind="minimum"} 210000000
sideband_clock_hertz{device="gpu0",clock="graphics",kind="maximum"} 1980000000
sideband_clock_hertz{device="gpu0",clock="memory",kind="current"} 2619000000
# HELP sideband_device_disabled 1 if the board is disabled, else 0.
# TYPE sideband_device_disabled gauge
sideband_device_disabled{device="gpu0"} 0
# HELP sideband_drain_recommended 1 if the board should get no new work and then be reset, else 0.
# TYPE sideband_drain_recommended gauge
sideband_drain_recommended{device="gpu0"} 1
# HELP sideband_driver_messages_total Messages of the driver since the daemon began to read the board, by Xid.
# TYPE sideband_driver_messages_total counter
sideband_driver_messages_total{device="gpu0",xid="48"} 1
sideband_driver_messages_total{device="gpu0",xid="79"} 2
sideband_driver_messages_total{device="gpu0",xid="other"} 3
# HELP sideband_driver_running 1 if the board's driver is running, else 0.
# TYPE sideband_driver_running gauge
sideband_driver_running{device="gpu0"} 1
# HELP sideband_ecc_enabled 1 if errors of the board's memory are corrected, else 0.
# TYPE sideband_ecc_enabled gauge
sideband_ecc_enabled{device="gpu0"} 1
# HELP sideband_ecc_errors_total Errors of the board's memories.
# TYPE sideband_ecc_errors_total counter
sideband_ecc_errors_total{device="gpu0",kind="corrected",memory="sram"} 2
sideband_ecc_errors_total{device="gpu0",kind="corrected",memory="dram"} 3
sideband_ecc_errors_total{device="gpu0",kind="uncorrected",memory="dram"} 0
# HELP sideband_ecc_threshold_exceeded 1 if the board's SRAM has had more uncorrected errors than the vendor tolerates, else 0.
# TYPE sideband_ecc_threshold_exceeded gauge
sideband_ecc_threshold_exceeded{device="gpu0"} 0
# HELP sideband_energy_joules_total Energy that the board has used.
# TYPE sideband_energy_joules_total counter
sideband_energy_joules_total{device="gpu0",sensor="total"} 9007199254740.993
sideband_energy_joules_total{device="gpu0",sensor="module"} 0.005
# HELP sideband_memory_bytes Size of the board's memory, and what is used or reserved of it.
# TYPE sideband_memory_bytes gauge
sideband_memory_bytes{device="gpu0",state="used"} 1073741824
sideband_memory_bytes{device="gpu0",state="reserved"} 1048576
sideband_memory_bytes{device="gpu0",state="total"} 17592186044416
# HELP sideband_mig_enabled 1 if the board is divided into partitions, else 0.
# TYPE sideband_mig_enabled gauge
sideband_mig_enabled{device="gpu0"} 0
# HELP sideband_nvlink_bandwidth_bits_per_second Bandwidth of an NVLink, as it was set up.
# TYPE sideband_nvlink_bandwidth_bits_per_second gauge
sideband_nvlink_bandwidth_bits_per_second{device="gpu0",link="0"} 106250000000
# HELP sideband_nvlink_bytes_total Bytes that an NVLink has carried, as a BMC counts them.
# TYPE sideband_nvlink_bytes_total counter
sideband_nvlink_bytes_total{device="gpu0",link="1",direction="rx"} 10
# HELP sideband_nvlink_data_bytes_per_second Bytes of data that an NVLink carries, between the latest two captures of metrics.
# TYPE sideband_nvlink_data_bytes_per_second gauge
sideband_nvlink_data_bytes_per_second{device="gpu0",link="0",direction="tx"} 1000000000
sideband_nvlink_data_bytes_per_second{device="gpu0",link="0",direction="rx"} 2000000000
# HELP sideband_nvlink_data_bytes_total Bytes of data that an NVLink has carried.
# TYPE sideband_nvlink_data_bytes_total counter
sideband_nvlink_data_bytes_total{device="gpu0",link="0",direction="tx"} 5
sideband_nvlink_data_bytes_total{device="gpu0",link="0",direction="rx"} 6
# HELP sideband_nvlink_errors_total Errors of an NVLink.
# TYPE sideband_nvlink_errors_total counter
sideband_nvlink_errors_total{device="gpu0",link="0",kind="replay"} 1
sideband_nvlink_errors_total{device="gpu0",link="0",kind="recovery"} 2
sideband_nvlink_errors_total{device="gpu0",link="0",kind="flit_crc"} 3
sideband_nvlink_errors_total{device="gpu0",link="0",kind="data_crc"} 4
sideband_nvlink_errors_total{device="gpu0",link="1",kind="down"} 9
# HELP sideband_nvlink_raw_bytes_per_second Bytes that an NVLink carries with its protocol, between the latest two captures of metrics.
# TYPE sideband_nvlink_raw_bytes_per_second gauge
sideband_nvlink_raw_bytes_per_second{device="gpu0",link="0",direction="tx"} 3000000000
sideband_nvlink_raw_bytes_per_second{device="gpu0",link="0",direction="rx"} 4000000000
# HELP sideband_nvlink_raw_bytes_total Bytes that an NVLink has carried with its protocol.
# TYPE sideband_nvlink_raw_bytes_total counter
sideband_nvlink_raw_bytes_total{device="gpu0",link="0",direction="tx"} 7
sideband_nvlink_raw_bytes_total{device="gpu0",link="0",direction="rx"} 8
# HELP sideband_nvlink_up 1 if the NVLink is up, also in its low-power state, else 0.
# TYPE sideband_nvlink_up gauge
sideband_nvlink_up{device="gpu0",link="0"} 1
sideband_nvlink_up{device="gpu0",link="1"} 0
# HELP sideband_partition_nvlink_raw_rx_bytes_per_second Bytes received by NVLink, with its protocol, of a partition or one of its compute instances.
# TYPE sideband_partition_nvlink_raw_rx_bytes_per_second gauge
sideband_partition_nvlink_raw_rx_bytes_per_second{device="gpu0",partition="2",compute_instance="0"} 3000000000
# HELP sideband_partition_sm_activity_ratio Share of the time in which an SM had work, of a partition or one of its compute instances.
# TYPE sideband_partition_sm_activity_ratio gauge
sideband_partition_sm_activity_ratio{device="gpu0",partition="2"} 1
sideband_partition_sm_activity_ratio{device="gpu0",partition="2",compute_instance="0"} 0
# HELP sideband_pcie_link_errors_total Errors of the board's PCIe link.
# TYPE sideband_pcie_link_errors_total counter
sideband_pcie_link_errors_total{device="gpu0",kind="correctable"} 4
sideband_pcie_link_errors_total{device="gpu0",kind="non_fatal"} 1
sideband_pcie_link_errors_total{device="gpu0",kind="fatal"} 2
sideband_pcie_link_errors_total{device="gpu0",kind="unsupported_request"} 3
sideband_pcie_link_errors_total{device="gpu0",kind="recovery"} 5
sideband_pcie_link_errors_total{device="gpu0",kind="replay_rollover"} 7
sideband_pcie_link_errors_total{device="gpu0",kind="nak_received"} 8
sideband_pcie_link_errors_total{device="gpu0",kind="nak_sent"} 9
# HELP sideband_pcie_link_generation Generation of PCIe by whose speed the board's link runs.
# TYPE sideband_pcie_link_generation gauge
sideband_pcie_link_generation{device="gpu0"} 5
# HELP sideband_pcie_link_replays_total Packets that the board has sent again on its PCIe link.
# TYPE sideband_pcie_link_replays_total counter
sideband_pcie_link_replays_total{device="gpu0"} 6
# HELP sideband_pcie_link_width Lanes of the board's PCIe link in use.
# TYPE sideband_pcie_link_width gauge
sideband_pcie_link_width{device="gpu0"} 16
# HELP sideband_performance_state Performance state of the board: 0 is the fastest.
# TYPE sideband_performance_state gauge
sideband_performance_state{device="gpu0"} 0
# HELP sideband_power_limit_watts Limit of the board's power in force, and the range and the default of such a limit.
# TYPE sideband_power_limit_watts gauge
sideband_power_limit_watts{device="gpu0",kind="current",sensor="total"} 400
sideband_power_limit_watts{device="gpu0",kind="minimum",sensor="total"} 100
sideband_power_limit_watts{device="gpu0",kind="maximum",sensor="total"} 700
sideband_power_limit_watts{device="gpu0",kind="default",sensor="total"} 700
sideband_power_limit_watts{device="gpu0",kind="maximum",sensor="module"} 1000
# HELP sideband_power_watts Power that the board uses.
# TYPE sideband_power_watts gauge
sideband_power_watts{device="gpu0",sensor="total"} 412.345
sideband_power_watts{device="gpu0",sensor="memory"} 60
sideband_power_watts{device="gpu0",sensor="module"} 500
# HELP sideband_remapped_rows_total Rows of the board's memory that were replaced by spare ones.
# TYPE sideband_remapped_rows_total counter
sideband_remapped_rows_total{device="gpu0",kind="corrected"} 1
sideband_remapped_rows_total{device="gpu0",kind="uncorrected"} 2047
# HELP sideband_reset_required 1 if the board needs a reset, else 0.
# TYPE sideband_reset_required gauge
sideband_reset_required{device="gpu0"} 0
# HELP sideband_retired_pages Pages of the board's memory that are not used any more.
# TYPE sideband_retired_pages gauge
sideband_retired_pages{device="gpu0",kind="single_bit"} 4
sideband_retired_pages{device="gpu0",kind="double_bit"} 255
# HELP sideband_row_remap_state 1 if a row waits for its replacement, a replacement has failed, or there were more than can be counted, else 0.
# TYPE sideband_row_remap_state gauge
sideband_row_remap_state{device="gpu0",state="pending"} 1
sideband_row_remap_state{device="gpu0",state="failed"} 0
sideband_row_remap_state{device="gpu0",state="excess"} 1
# HELP sideband_temperature_celsius Temperature at a sensor of the board.
# TYPE sideband_temperature_celsius gauge
sideband_temperature_celsius{device="gpu0",sensor="gpu"} 61.5
sideband_temperature_celsius{device="gpu0",sensor="gpu1"} 60
sideband_temperature_celsius{device="gpu0",sensor="board"} -0.5
sideband_temperature_celsius{device="gpu0",sensor="memory"} 70
sideband_temperature_celsius{device="gpu0",sensor="power_supply"} 40.25
# HELP sideband_temperature_margin_celsius How far the temperature is below the limit at which the board slows down.
# TYPE sideband_temperature_margin_celsius gauge
sideband_temperature_margin_celsius{device="gpu0",sensor="gpu"} 25.5
# HELP sideband_temperature_threshold_celsius Temperature at which the board acts, or, of a kind with _margin, the margin at which it does.
# TYPE sideband_temperature_threshold_celsius gauge
sideband_temperature_threshold_celsius{device="gpu0",kind="shutdown"} 95
sideband_temperature_threshold_celsius{device="gpu0",kind="memory_slowdown_margin"} 3
# HELP sideband_throttle_active 1 if the board slows its clocks down for this reason, else 0.
# TYPE sideband_throttle_active gauge
sideband_throttle_active{device="gpu0",reason="software_power_cap"} 0
sideband_throttle_active{device="gpu0",reason="hardware_thermal"} 1
# HELP sideband_violation_seconds_total How long a limit kept the board from its full speed, as its BMC says.
# TYPE sideband_violation_seconds_total counter
sideband_violation_seconds_total{device="gpu0",kind="power_limit"} 1.500
sideband_violation_seconds_total{device="gpu0",kind="software"} 0.002
# HELP sideband_violation_total How long or how often a limit kept the board from its full speed, in a unit that is not public.
# TYPE sideband_violation_total counter
sideband_violation_total{device="gpu0",kind="hardware"} 1
sideband_violation_total{device="gpu0",kind="software_thermal"} 4
)";

// The names of the families of a text, in its order.
std::vector<std::string> FamiliesOf(const std::string& text) {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "# TYPE ")) continue;
    names.push_back(std::vector<std::string>(absl::StrSplit(line, ' '))[2]);
  }
  return names;
}

TEST(BoardFamiliesTest, AFullReadingAsText) { EXPECT_EQ(TextOf(FullReading()), kText); }

TEST(BoardFamiliesTest, CountersAsOpenMetricsHaveTheirBeginning) {
  BoardReading reading;
  reading.power.watts = {{PowerSource::kTotal, 412.345}};
  reading.energy.millijoules = {{PowerSource::kTotal, Count(9'007'199'254'740'993)}, {PowerSource::kModule, Count(5)}};
  EXPECT_EQ(TextOf(reading, MetricsFormat::kOpenMetrics),
            R"(# HELP sideband_energy_joules Energy that the board has used.
# TYPE sideband_energy_joules counter
sideband_energy_joules_total{device="gpu0",sensor="total"} 9007199254740.993
sideband_energy_joules_created{device="gpu0",sensor="total"} 1700000000.250
sideband_energy_joules_total{device="gpu0",sensor="module"} 0.005
sideband_energy_joules_created{device="gpu0",sensor="module"} 1700000000.250
# HELP sideband_power_watts Power that the board uses.
# TYPE sideband_power_watts gauge
sideband_power_watts{device="gpu0",sensor="total"} 412.345
)");
}

TEST(BoardFamiliesTest, EveryCounterAsOpenMetricsHasItsBeginning) {
  const std::string text = TextOf(FullReading(), MetricsFormat::kOpenMetrics);
  const auto count = [&text](absl::string_view part) {
    return std::vector<std::string>(absl::StrSplit(text, part)).size() - 1;
  };
  EXPECT_EQ(count("_created{"), count("_total{"));
  EXPECT_GT(count("_created{"), 20u);
}

TEST(BoardFamiliesTest, FamiliesAreSortedAndOccurOnce) {
  const std::vector<std::string> names = FamiliesOf(TextOf(FullReading()));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names.size(), 42u + 4) << "those with a row, and those of the reading's metrics";
}

TEST(BoardFamiliesTest, WhatIsUnknownIsAbsent) {
  EXPECT_THAT(TextOf({}), IsEmpty());
  EXPECT_THAT(TextOf({}, MetricsFormat::kOpenMetrics), IsEmpty());
  EXPECT_THAT(BoardFamiliesText(MetricsFormat::kText, {}, kNow), IsEmpty());
}

TEST(BoardFamiliesTest, AFamilyWithoutASampleIsLeftOut) {
  BoardReading reading;
  reading.power.watts[PowerSource::kTotal] = 0;
  EXPECT_EQ(TextOf(reading),
            "# HELP sideband_power_watts Power that the board uses.\n"
            "# TYPE sideband_power_watts gauge\n"
            "sideband_power_watts{device=\"gpu0\",sensor=\"total\"} 0\n");
}

TEST(BoardFamiliesTest, DevicesShareAFamily) {
  BoardReading first, last;
  first.clocks.performance_state = 0;
  last.clocks.performance_state = 14;
  EXPECT_EQ(BoardFamiliesText(MetricsFormat::kText,
                              {{"gpu1", std::make_shared<const BoardReading>(first)},
                               {"gpu0", std::make_shared<const BoardReading>(last)}},
                              kNow),
            "# HELP sideband_performance_state Performance state of the board: 0 is the fastest.\n"
            "# TYPE sideband_performance_state gauge\n"
            "sideband_performance_state{device=\"gpu1\"} 0\n"
            "sideband_performance_state{device=\"gpu0\"} 14\n");
}

TEST(BoardFamiliesTest, APartOfABoardIsMetricsOfItsPartitions) {
  BoardPart part;
  part.Add(/*partition=*/2, MetricId::kSmActivity);
  BoardReading reading = FullReading();
  reading.metrics = {};
  for (const uint8_t partition : {1, 2}) {
    reading.metrics.scopes[{.partition = partition}].ratios = {{MetricId::kSmActivity, 0.5},
                                                               {MetricId::kDramUsage, 0.25}};
  }
  const std::string text =
      BoardFamiliesText(MetricsFormat::kText, {{"gpu0", std::make_shared<const BoardReading>(reading), part}}, kNow);
  EXPECT_THAT(FamiliesOf(text), testing::ElementsAre("sideband_partition_sm_activity_ratio"));
  EXPECT_THAT(text,
              testing::EndsWith(" gauge\nsideband_partition_sm_activity_ratio{device=\"gpu0\",partition=\"2\"} 0.5\n"));
}

TEST(BoardFamiliesTest, LabelsAreEscaped) {
  BoardReading reading;
  reading.identity.items[SysId::kMarketingName] = "a\\b\"c";
  const auto shared = std::make_shared<const BoardReading>(reading);
  EXPECT_THAT(BoardFamiliesText(MetricsFormat::kText, {{"rack \"7\"\n", shared}}, kNow),
              HasSubstr("\nsideband_board_info{device=\"rack \\\"7\\\"\\n\",name=\"a\\\\b\\\"c\"} 1\n"));
}

TEST(BoardFamiliesTest, ADriverAloneIsAnIdentity) {
  BoardReading reading;
  reading.identity.driver_version = "550";
  EXPECT_THAT(TextOf(reading), HasSubstr("\nsideband_board_info{device=\"gpu0\",driver_version=\"550\"} 1\n"));
}

TEST(BoardFamiliesTest, ThrottlingNeedsWhatIsActive) {
  BoardReading reading;
  reading.clock_limits.throttle_supported = mailbox::MaskOf(ThrottleReason::kSyncBoost);
  EXPECT_THAT(TextOf(reading), IsEmpty());
  reading.clocks.throttle_active = 0;
  EXPECT_THAT(TextOf(reading), HasSubstr("{device=\"gpu0\",reason=\"sync_boost\"} 0\n"));
}

TEST(BoardFamiliesTest, AnActiveReasonThatIsNotListedIsShown) {
  BoardReading reading;
  reading.clocks.throttle_active = mailbox::MaskOf(ThrottleReason::kSoftwareThermal);
  const std::string text = TextOf(reading);
  EXPECT_THAT(text, HasSubstr("{device=\"gpu0\",reason=\"software_thermal\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("sync_boost")));
}

TEST(BoardFamiliesTest, AnExcessOfRowsNeedsTheirCounts) {
  BoardReading reading;
  reading.row_remaps.has_failed = true;
  EXPECT_THAT(TextOf(reading), Not(HasSubstr("excess")));
  reading.row_remaps.corrected = Count(0);
  EXPECT_THAT(TextOf(reading), HasSubstr("{device=\"gpu0\",state=\"excess\"} 0\n"));
}

TEST(BoardFamiliesTest, PartitionsAreNotTheWholeDevice) {
  BoardReading reading;
  reading.metrics.scopes[{.partition = 0}].ratios[MetricId::kDramUsage] = 0.5;
  EXPECT_EQ(FamiliesOf(TextOf(reading)), std::vector<std::string>{"sideband_partition_dram_usage_ratio"});
}

// Every metric that is read has a family of the device, and one of partitions.
TEST(BoardFamiliesTest, EachMetricHasFamilies) {
  BoardReading reading;
  for (const mailbox::MetricRow& row : mailbox::kMetrics) {
    reading.metrics.scopes[{}].ratios[row.metric] = 0;
    reading.metrics.scopes[{}].bytes_per_second[row.metric] = 0;
    reading.metrics.scopes[{.partition = 0}] = reading.metrics.scopes[{}];
  }
  EXPECT_EQ(FamiliesOf(TextOf(reading)).size(), 2 * (15u + 6));
}

}  // namespace
}  // namespace sideband::daemon
