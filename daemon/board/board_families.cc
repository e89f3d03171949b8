// SPDX-License-Identifier: Apache-2.0
//
// The families of a board's parts: temperatures and powers, clocks, memories, decoders, links.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/board/sensor_families.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {
namespace {

// Calls write(item, word) for each row that has a word.
template <typename Row, size_t kRows, typename Write>
void ForEachWord(const Row (&rows)[kRows], const Write& write) {
  for (const auto& [item, name, word, capability] : rows) {
    if (word != nullptr) write(item, word);
  }
}

void WriteTemperature(BoardSeries& out) {
  ForEachWord(mailbox::kTempSensors, [&](auto sensor, const char* word) {
    out.Gauge({{"sensor", word}}, Find(out.reading().temperature.celsius, sensor));
  });
}

void WriteMargin(BoardSeries& out) { out.Gauge({{"sensor", "gpu"}}, out.reading().margin.celsius); }

void WriteThreshold(BoardSeries& out) {
  ForEachWord(mailbox::kThermParams, [&](auto param, const char* word) {
    out.Gauge({{"kind", word}}, Find(out.reading().thresholds.celsius, param));
  });
}

void WritePower(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    out.Gauge({{"sensor", word}}, Find(out.reading().power.watts, source));
  });
}

void WriteEnergy(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    out.MilliCount({{"sensor", word}}, Find(out.reading().energy.millijoules, source));
  });
}

void WritePowerLimit(BoardSeries& out) {
  ForEachWord(mailbox::kPowerSources, [&](auto source, const char* word) {
    const auto limits = Find(out.reading().power_limits.limits, source);
    if (!limits) return;
    out.Gauge({{"kind", "current"}, {"sensor", word}}, limits->current);
    out.Gauge({{"kind", "minimum"}, {"sensor", word}}, limits->minimum);
    out.Gauge({{"kind", "maximum"}, {"sensor", word}}, limits->maximum);
    out.Gauge({{"kind", "default"}, {"sensor", word}}, limits->standard);
  });
}

constexpr BoardFamilyRow kThermalFamilies[] = {
    {"sideband_energy_joules_total", MetricType::kCounter, BoardGroup::kEnergy, "Energy that the board has used.",
     WriteEnergy},
    {"sideband_power_limit_watts", MetricType::kGauge, BoardGroup::kPowerLimits,
     "Limit of the board's power in force, and the range and the default of such a limit.", WritePowerLimit},
    {"sideband_power_watts", MetricType::kGauge, BoardGroup::kPower, "Power that the board uses.", WritePower},
    {"sideband_temperature_celsius", MetricType::kGauge, BoardGroup::kTemperature,
     "Temperature at a sensor of the board.", WriteTemperature},
    {"sideband_temperature_margin_celsius", MetricType::kGauge, BoardGroup::kMargin,
     "How far the temperature is below the limit at which the board slows down.", WriteMargin},
    {"sideband_temperature_threshold_celsius", MetricType::kGauge, BoardGroup::kThresholds,
     "Temperature at which the board acts, or, of a kind with _margin, the margin at which it does.", WriteThreshold},
};

using mailbox::BoardClock;
using mailbox::ThrottleReason;
using mailbox::Violation;

constexpr double kMega = 1e6;

constexpr BoardWord<BoardClock> kClockWords[] = {{BoardClock::kGraphics, "graphics"}, {BoardClock::kMemory, "memory"}};

constexpr BoardWord<ThrottleReason> kReasonWords[] = {
    {ThrottleReason::kSoftwarePowerCap, "software_power_cap"},
    {ThrottleReason::kHardwareSlowdown, "hardware_slowdown"},
    {ThrottleReason::kHardwareThermal, "hardware_thermal"},
    {ThrottleReason::kHardwarePowerBrake, "hardware_power_brake"},
    {ThrottleReason::kSyncBoost, "sync_boost"},
    {ThrottleReason::kSoftwareThermal, "software_thermal"},
};
static_assert(std::size(kReasonWords) == std::size(mailbox::kThrottleReasons));

constexpr BoardWord<Violation> kViolationWords[] = {
    {Violation::kHardware, "hardware"},
    {Violation::kSoftware, "software"},
    {Violation::kSoftwarePower, "software_power"},
    {Violation::kSoftwareThermal, "software_thermal"},
};
static_assert(std::size(kViolationWords) == mailbox::kViolationCount);

void WriteClock(BoardSeries& out) {
  const BoardReading& reading = out.reading();
  for (const auto& [clock, word] : kClockWords) {
    out.Gauge({{"clock", word}, {"kind", "current"}}, Find(reading.clocks.current_mhz, clock), kMega);
    out.Gauge({{"clock", word}, {"kind", "minimum"}}, Find(reading.clock_limits.minimum_mhz, clock), kMega);
    out.Gauge({{"clock", word}, {"kind", "maximum"}}, Find(reading.clock_limits.maximum_mhz, clock), kMega);
  }
}

void WritePerformanceState(BoardSeries& out) { out.Gauge({}, out.reading().clocks.performance_state); }

void WriteThrottle(BoardSeries& out) {
  const auto& active = out.reading().clocks.throttle_active;
  if (!active) return;
  // A reason that is active is shown even if the board does not list it.
  const uint32_t shown = out.reading().clock_limits.throttle_supported.value_or(0) | *active;
  for (const auto& [reason, word] : kReasonWords) {
    const uint32_t mask = mailbox::MaskOf(reason);
    if ((shown & mask) != 0) out.Gauge({{"reason", word}}, (*active & mask) != 0);
  }
}

constexpr BoardWord<SpeedLimit> kSpeedLimitWords[] = {
    {SpeedLimit::kPower, "power_limit"},
    {SpeedLimit::kThermal, "thermal_limit"},
    {SpeedLimit::kHardware, "hardware"},
    {SpeedLimit::kSoftware, "software"},
};

void WriteViolationTime(BoardSeries& out) {
  for (const auto& [limit, word] : kSpeedLimitWords) {
    out.MilliCount({{"kind", word}}, Find(out.reading().violations.milliseconds, limit));
  }
}

void WriteViolation(BoardSeries& out) {
  for (const auto& [violation, word] : kViolationWords) {
    out.Count({{"kind", word}}, Find(out.reading().violations.counts, violation));
  }
}

constexpr BoardFamilyRow kClockFamilies[] = {
    {"sideband_clock_hertz", MetricType::kGauge, BoardGroup::kClocks,
     "Frequency of a clock of the board, and its range.", WriteClock},
    {"sideband_performance_state", MetricType::kGauge, BoardGroup::kClocks,
     "Performance state of the board: 0 is the fastest.", WritePerformanceState},
    {"sideband_throttle_active", MetricType::kGauge, BoardGroup::kClocks,
     "1 if the board slows its clocks down for this reason, else 0.", WriteThrottle},
    {"sideband_violation_seconds_total", MetricType::kCounter, BoardGroup::kViolations,
     "How long a limit kept the board from its full speed, as its BMC says.", WriteViolationTime},
    {"sideband_violation_total", MetricType::kCounter, BoardGroup::kViolations,
     "How long or how often a limit kept the board from its full speed, in a unit that is not public.", WriteViolation},
};

using mailbox::EccMemory;

constexpr double kMib = 1 << 20;

constexpr BoardWord<EccMemory> kMemoryWords[] = {{EccMemory::kSram, "sram"}, {EccMemory::kDram, "dram"}};

void WriteMemory(BoardSeries& out) {
  const MemoryReading& memory = out.reading().memory;
  out.Gauge({{"state", "used"}}, memory.used_mib, kMib);
  out.Gauge({{"state", "reserved"}}, memory.reserved_mib, kMib);
  out.Gauge({{"state", "total"}}, memory.total_mib, kMib);
}

void WriteEccErrors(BoardSeries& out) {
  const EccReading& ecc = out.reading().ecc;
  for (const auto& [memory, word] : kMemoryWords) {
    out.Count({{"kind", "corrected"}, {"memory", word}}, Find(ecc.corrected, memory));
    out.Count({{"kind", "uncorrected"}, {"memory", word}}, Find(ecc.uncorrected, memory));
  }
}

void WriteEccThreshold(BoardSeries& out) { out.Gauge({}, out.reading().ecc.sram_threshold_exceeded); }

void WriteRemappedRows(BoardSeries& out) {
  out.Count({{"kind", "corrected"}}, out.reading().row_remaps.corrected);
  out.Count({{"kind", "uncorrected"}}, out.reading().row_remaps.uncorrected);
}

void WriteRemapState(BoardSeries& out) {
  const RowRemapReading& remaps = out.reading().row_remaps;
  out.Gauge({{"state", "pending"}}, remaps.is_pending);
  out.Gauge({{"state", "failed"}}, remaps.has_failed);
  if (remaps.corrected || remaps.uncorrected) out.Gauge({{"state", "excess"}}, remaps.has_excess);
}

void WriteRetiredPages(BoardSeries& out) {
  out.Gauge({{"kind", "single_bit"}}, out.reading().retired_pages.single_bit);
  out.Gauge({{"kind", "double_bit"}}, out.reading().retired_pages.double_bit);
}

constexpr BoardFamilyRow kMemoryFamilies[] = {
    {"sideband_ecc_errors_total", MetricType::kCounter, BoardGroup::kEcc, "Errors of the board's memories.",
     WriteEccErrors},
    {"sideband_ecc_threshold_exceeded", MetricType::kGauge, BoardGroup::kEcc,
     "1 if the board's SRAM has had more uncorrected errors than the vendor tolerates, else 0.", WriteEccThreshold},
    {"sideband_memory_bytes", MetricType::kGauge, BoardGroup::kMemory,
     "Size of the board's memory, and what is used or reserved of it.", WriteMemory},
    {"sideband_remapped_rows_total", MetricType::kCounter, BoardGroup::kRowRemaps,
     "Rows of the board's memory that were replaced by spare ones.", WriteRemappedRows},
    {"sideband_retired_pages", MetricType::kGauge, BoardGroup::kRetiredPages,
     "Pages of the board's memory that are not used any more.", WriteRetiredPages},
    {"sideband_row_remap_state", MetricType::kGauge, BoardGroup::kRowRemaps,
     "1 if a row waits for its replacement, a replacement has failed, or there were more than can be counted, else 0.",
     WriteRemapState},
};

using mailbox::MetricId;

template <MetricId kMetric>
void WriteDecoders(BoardSeries& out) {
  for (const auto& [of, ratio] : out.reading().decoders.ratios) {
    const auto& [metric, decoder] = of;
    if (metric == kMetric) out.Gauge({{"decoder", absl::StrCat(decoder)}}, ratio);
  }
}

constexpr BoardFamilyRow kDecoderFamilies[] = {
    {"sideband_board_nvdec_per_instance_ratio", MetricType::kGauge, BoardGroup::kDecoders,
     "Share of the time in which a video decoder was active, between the latest two captures of metrics.",
     WriteDecoders<MetricId::kNvdecPerInstance>},
    {"sideband_board_nvjpg_per_instance_ratio", MetricType::kGauge, BoardGroup::kDecoders,
     "Share of the time in which a JPEG decoder was active, between the latest two captures of metrics.",
     WriteDecoders<MetricId::kNvjpgPerInstance>},
};

struct PcieErrorRow {
  std::optional<RunningCount> PcieReading::*count;
  const char* word;
};
constexpr PcieErrorRow kPcieErrors[] = {
    {&PcieReading::correctable, "correctable"},
    {&PcieReading::non_fatal, "non_fatal"},
    {&PcieReading::fatal, "fatal"},
    {&PcieReading::unsupported, "unsupported_request"},
    {&PcieReading::recoveries, "recovery"},
    {&PcieReading::replay_rollovers, "replay_rollover"},
    {&PcieReading::naks_received, "nak_received"},
    {&PcieReading::naks_sent, "nak_sent"},
};

struct NvlinkErrorRow {
  std::optional<RunningCount> NvlinkStatus::*count;
  const char* word;
};
constexpr NvlinkErrorRow kNvlinkErrors[] = {
    {&NvlinkStatus::replays, "replay"},
    {&NvlinkStatus::recoveries, "recovery"},
    {&NvlinkStatus::flit_crc, "flit_crc"},
    {&NvlinkStatus::data_crc, "data_crc"},
    {&NvlinkStatus::downs, "down"},
    {&NvlinkStatus::symbol_errors, "symbol"},
    {&NvlinkStatus::receive_errors, "receive"},
};

void WritePcieGeneration(BoardSeries& out) { out.Gauge({}, out.reading().pcie.generation); }
void WritePcieWidth(BoardSeries& out) { out.Gauge({}, out.reading().pcie.lanes); }
void WritePcieReplays(BoardSeries& out) { out.Count({}, out.reading().pcie.replays); }

void WritePcieErrors(BoardSeries& out) {
  for (const auto& [count, word] : kPcieErrors) out.Count({{"kind", word}}, out.reading().pcie.*count);
}

void WriteNvlinkUp(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) out.Gauge({{"link", absl::StrCat(i)}}, links[i].is_up);
}

void WriteNvlinkBandwidth(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) out.Gauge({{"link", absl::StrCat(i)}}, links[i].bits_per_second);
}

void WriteNvlinkErrors(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    for (const auto& [count, word] : kNvlinkErrors) out.Count({{"link", link}, {"kind", word}}, links[i].*count);
  }
}

// A value of each direction.
template <typename Value>
struct Directions {
  std::optional<Value> NvlinkStatus::*tx;
  std::optional<Value> NvlinkStatus::*rx;
};
constexpr Directions<RunningCount> kPortBytes = {&NvlinkStatus::tx, &NvlinkStatus::rx};
constexpr Directions<RunningCount> kDataBytes = {&NvlinkStatus::data_tx, &NvlinkStatus::data_rx};
constexpr Directions<RunningCount> kRawBytes = {&NvlinkStatus::raw_tx, &NvlinkStatus::raw_rx};
constexpr Directions<double> kDataRates = {&NvlinkStatus::data_tx_rate, &NvlinkStatus::data_rx_rate};
constexpr Directions<double> kRawRates = {&NvlinkStatus::raw_tx_rate, &NvlinkStatus::raw_rx_rate};

template <const Directions<RunningCount>& kDirections>
void WriteNvlinkBytes(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    out.Count({{"link", link}, {"direction", "tx"}}, links[i].*kDirections.tx);
    out.Count({{"link", link}, {"direction", "rx"}}, links[i].*kDirections.rx);
  }
}

template <const Directions<double>& kRates>
void WriteNvlinkRates(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    out.Gauge({{"link", link}, {"direction", "tx"}}, links[i].*kRates.tx);
    out.Gauge({{"link", link}, {"direction", "rx"}}, links[i].*kRates.rx);
  }
}

constexpr BoardFamilyRow kLinkFamilies[] = {
    {"sideband_nvlink_bandwidth_bits_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bandwidth of an NVLink, as it was set up.", WriteNvlinkBandwidth},
    {"sideband_nvlink_bytes_total", MetricType::kCounter, BoardGroup::kNvlink,
     "Bytes that an NVLink has carried, as a BMC counts them.", WriteNvlinkBytes<kPortBytes>},
    {"sideband_nvlink_data_bytes_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bytes of data that an NVLink carries, between the latest two captures of metrics.", WriteNvlinkRates<kDataRates>},
    {"sideband_nvlink_data_bytes_total", MetricType::kCounter, BoardGroup::kNvlink,
     "Bytes of data that an NVLink has carried.", WriteNvlinkBytes<kDataBytes>},
    {"sideband_nvlink_errors_total", MetricType::kCounter, BoardGroup::kNvlink, "Errors of an NVLink.",
     WriteNvlinkErrors},
    {"sideband_nvlink_raw_bytes_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bytes that an NVLink carries with its protocol, between the latest two captures of metrics.",
     WriteNvlinkRates<kRawRates>},
    {"sideband_nvlink_raw_bytes_total", MetricType::kCounter, BoardGroup::kNvlink,
     "Bytes that an NVLink has carried with its protocol.", WriteNvlinkBytes<kRawBytes>},
    {"sideband_nvlink_up", MetricType::kGauge, BoardGroup::kNvlink,
     "1 if the NVLink is up, also in its low-power state, else 0.", WriteNvlinkUp},
    {"sideband_pcie_link_errors_total", MetricType::kCounter, BoardGroup::kPcie, "Errors of the board's PCIe link.",
     WritePcieErrors},
    {"sideband_pcie_link_generation", MetricType::kGauge, BoardGroup::kPcie,
     "Generation of PCIe by whose speed the board's link runs.", WritePcieGeneration},
    {"sideband_pcie_link_replays_total", MetricType::kCounter, BoardGroup::kPcie,
     "Packets that the board has sent again on its PCIe link.", WritePcieReplays},
    {"sideband_pcie_link_width", MetricType::kGauge, BoardGroup::kPcie, "Lanes of the board's PCIe link in use.",
     WritePcieWidth},
};

}  // namespace

std::span<const BoardFamilyRow> BoardThermalFamilies() { return kThermalFamilies; }

std::span<const BoardFamilyRow> BoardClockFamilies() { return kClockFamilies; }

std::span<const BoardFamilyRow> BoardMemoryFamilies() { return kMemoryFamilies; }

std::span<const BoardFamilyRow> BoardDecoderFamilies() { return kDecoderFamilies; }

std::span<const BoardFamilyRow> BoardLinkFamilies() { return kLinkFamilies; }

}  // namespace sideband::daemon
