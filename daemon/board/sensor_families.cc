// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/sensor_families.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using mailbox::MiscFlag;
using mailbox::SysId;
using LabelList = std::vector<std::pair<absl::string_view, absl::string_view>>;

// In both formats of Prometheus a label with an empty value is the same as none.
template <typename Labels>
LabelList Known(const Labels& labels) {
  LabelList known;
  for (const auto& [name, value] : labels) {
    if (!value.empty()) known.emplace_back(name, value);
  }
  return known;
}

struct MetricHelp {
  MetricId metric;
  const char* help;  // the beginning of a sentence
};

constexpr MetricHelp kRatios[] = {
    {MetricId::kEngineActive, "Share of the time in which the graphics engine was active"},
    {MetricId::kSmActivity, "Share of the time in which an SM had work"},
    {MetricId::kSmOccupancy, "Warps that were resident, as a share of those for which there is room"},
    {MetricId::kTensorActivity, "Share of the time in which the tensor cores were active"},
    {MetricId::kDramUsage, "Share of the memory's bandwidth that was used"},
    {MetricId::kFp64Activity, "Share of the time in which the FP64 units were active"},
    {MetricId::kFp32Activity, "Share of the time in which the FP32 units were active"},
    {MetricId::kFp16Activity, "Share of the time in which the FP16 units were active"},
    {MetricId::kNvdec, "Share of the time in which the video decoders were active"},
    {MetricId::kNvjpg, "Share of the time in which the JPEG decoders were active"},
    {MetricId::kNvofa, "Share of the time in which the optical flow units were active"},
    {MetricId::kIntegerActivity, "Share of the time in which the integer units were active"},
    {MetricId::kDmmaActivity, "Share of the time in which the tensor cores calculated in FP64"},
    {MetricId::kHmmaActivity, "Share of the time in which the tensor cores calculated in FP16"},
    {MetricId::kImmaActivity, "Share of the time in which the tensor cores calculated in integers"},
};

constexpr MetricHelp kBandwidths[] = {
    {MetricId::kPcieTx, "Bytes sent by PCIe"},
    {MetricId::kPcieRx, "Bytes received by PCIe"},
    {MetricId::kNvlinkRawTx, "Bytes sent by NVLink, with its protocol"},
    {MetricId::kNvlinkDataTx, "Bytes of data sent by NVLink"},
    {MetricId::kNvlinkRawRx, "Bytes received by NVLink, with its protocol"},
    {MetricId::kNvlinkDataRx, "Bytes of data received by NVLink"},
};

// Metrics for each link are families of the links, metrics for each decoder of the decoders.
constexpr size_t kMetricsOfParts = 6;
static_assert(std::size(kRatios) + std::size(kBandwidths) + kMetricsOfParts == mailbox::kMetricCount);

using Values = std::map<MetricId, double> MetricValues::*;

template <Values kValues>
void WriteDevice(MetricId metric, BoardSeries& out) {
  const auto values = out.reading().metrics.scopes.find({});
  if (values != out.reading().metrics.scopes.end()) out.Gauge({}, Find(values->second.*kValues, metric));
}

template <Values kValues>
void WritePartitions(MetricId metric, BoardSeries& out) {
  for (const auto& [scope, values] : out.reading().metrics.scopes) {
    if (!scope.partition || !out.part().Shows(*scope.partition, metric)) continue;
    out.PartitionGauge(scope, Find(values.*kValues, metric));
  }
}

template <Values kValues>
void AddFamilies(const MetricHelp& row, const char* unit, std::vector<BoardMetricFamily>& families) {
  const char* const word = mailbox::WordOf(row.metric);
  families.push_back({.name = absl::StrCat("sideband_board_", word, unit),
                      .help = absl::StrCat(row.help, ", of the whole device."),
                      .metric = row.metric,
                      .write = WriteDevice<kValues>});
  families.push_back({.name = absl::StrCat("sideband_partition_", word, unit),
                      .help = absl::StrCat(row.help, ", of a partition or one of its compute instances."),
                      .metric = row.metric,
                      .is_of_partitions = true,
                      .write = WritePartitions<kValues>});
}

// Labels of the items that are part of an identity.
constexpr BoardWord<SysId> kItemWords[] = {
    {SysId::kBoardPartNumber, "part_number"},
    {SysId::kSerialNumber, "serial"},
    {SysId::kMarketingName, "name"},
    {SysId::kFirmwareVersion, "firmware"},
    {SysId::kInforomVersion, "inforom_version"},
    {SysId::kGpuPartNumber, "gpu_part_number"},
    {SysId::kGuid, "gpu_guid"},
    {SysId::kMemoryPartNumber, "memory_part_number"},
    {SysId::kMemoryVendor, "memory_vendor"},
    {SysId::kFruPartNumber, "fru_part_number"},
    {SysId::kOemInfo, "oem_info"},
    {SysId::kBuildDate, "build_date"},
    {SysId::kVendorId, "vendor_id"},
    {SysId::kDeviceId, "device_id"},
    {SysId::kSubsystemVendorId, "subsystem_vendor_id"},
    {SysId::kSubsystemId, "subsystem_id"},
};

void WriteInfo(BoardSeries& out) {
  const IdentityReading& identity = out.reading().identity;
  std::vector<std::pair<absl::string_view, std::string>> labels;
  for (const auto& [item, word] : kItemWords) labels.emplace_back(word, Find(identity.items, item).value_or(""));
  labels.emplace_back("driver_version", identity.driver_version.value_or(""));
  out.Info(labels);
}

template <MiscFlag kFlag>
void WriteFlag(BoardSeries& out) {
  out.Gauge({}, Find(out.reading().flags.flags, kFlag));
}

void WriteEvents(BoardSeries& out) {
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    out.Count({{"event", row.word}}, Find(out.reading().events.counts, row.event));
  }
}

void WriteMessages(BoardSeries& out) {
  const DriverMessageReading& messages = out.reading().driver_messages;
  for (const auto& [xid, count] : messages.counts) out.Count({{"xid", absl::StrCat(xid)}}, count);
  if (messages.other.value != 0) out.Count({{"xid", "other"}}, messages.other);
}

constexpr BoardWord<BoardHealth> kHealthWords[] = {
    {BoardHealth::kOk, "ok"}, {BoardHealth::kWarning, "warning"}, {BoardHealth::kCritical, "critical"}};

void WriteHealth(BoardSeries& out) {
  const auto worst = out.reading().health.worst;
  if (!worst) return;
  for (const auto& [health, word] : kHealthWords) out.Gauge({{"state", word}}, *worst == health);
}

void WriteAge(BoardSeries& out) {
  for (const auto& [group, time] : out.reading().samples) {
    // A reading may be newer than the time that the caller has taken.
    const absl::Duration age = std::max(out.now() - time.steady, absl::ZeroDuration());
    out.Gauge({{"sensor_group", RowOf(group).name}}, absl::ToDoubleSeconds(age));
  }
}

constexpr BoardFamilyRow kStateFamilies[] = {
    {"sideband_board_events_total", MetricType::kCounter, BoardGroup::kEvents,
     "Events that the board has raised since the daemon began to read it.", WriteEvents},
    {"sideband_board_health", MetricType::kGauge, BoardGroup::kHealth,
     "1 for what the BMC says of the GPU's health, else 0.", WriteHealth},
    {"sideband_board_info", MetricType::kGauge, BoardGroup::kIdentity, "1, with the identity of the board.", WriteInfo},
    {"sideband_board_sample_age_seconds", MetricType::kGauge, BoardGroup::kCapabilities,
     "How long ago a group of the board's sensors was read.", WriteAge},
    {"sideband_device_disabled", MetricType::kGauge, BoardGroup::kFlags, "1 if the board is disabled, else 0.",
     WriteFlag<MiscFlag::kDeviceDisabled>},
    {"sideband_drain_recommended", MetricType::kGauge, BoardGroup::kFlags,
     "1 if the board should get no new work and then be reset, else 0.", WriteFlag<MiscFlag::kDrainRecommended>},
    {"sideband_driver_messages_total", MetricType::kCounter, BoardGroup::kDriverMessages,
     "Messages of the driver since the daemon began to read the board, by Xid.", WriteMessages},
    {"sideband_driver_running", MetricType::kGauge, BoardGroup::kFlags, "1 if the board's driver is running, else 0.",
     WriteFlag<MiscFlag::kDriverRuns>},
    {"sideband_ecc_enabled", MetricType::kGauge, BoardGroup::kFlags,
     "1 if errors of the board's memory are corrected, else 0.", WriteFlag<MiscFlag::kEccCurrent>},
    {"sideband_mig_enabled", MetricType::kGauge, BoardGroup::kFlags,
     "1 if the board is divided into partitions, else 0.", WriteFlag<MiscFlag::kMigCurrent>},
    {"sideband_reset_required", MetricType::kGauge, BoardGroup::kFlags, "1 if the board needs a reset, else 0.",
     WriteFlag<MiscFlag::kResetRequired>},
};

std::vector<SensorFamily> SortedFamilies() {
  std::vector<SensorFamily> families;
  for (const auto& rows : {BoardThermalFamilies(), BoardClockFamilies(), BoardMemoryFamilies(), BoardDecoderFamilies(),
                           BoardLinkFamilies(), BoardStateFamilies()}) {
    for (const BoardFamilyRow& row : rows) {
      families.push_back(
          {.name = row.name, .type = row.type, .group = row.group, .help = row.help, .write = row.write});
    }
  }
  for (BoardMetricFamily& family : BoardMetricFamilies()) {
    families.push_back({.name = std::move(family.name),
                        .type = MetricType::kGauge,
                        .group = BoardGroup::kMetrics,
                        .help = std::move(family.help),
                        .partition_metric = family.is_of_partitions ? std::optional(family.metric) : std::nullopt,
                        .write = std::bind_front(family.write, family.metric),
                        .own_group = family.metric == MetricId::kDramUsage && !family.is_of_partitions
                                         ? std::optional(BoardGroup::kMemoryActivity)
                                         : std::nullopt});
  }
  std::ranges::sort(families, {}, &SensorFamily::name);
  return families;
}

}  // namespace

void BoardSeries::Gauge(Labels labels, std::optional<double> value, double unit) {
  if (value) TakeGauge(Known(labels), *value * unit);
}

void BoardSeries::Info(std::span<const std::pair<absl::string_view, std::string>> labels) {
  const LabelList known = Known(labels);
  if (!known.empty()) TakeGauge(known, 1);
}

void BoardSeries::PartitionGauge(const MetricScope& scope, std::optional<double> value) {
  if (!value) return;
  const std::string partition = absl::StrCat(*scope.partition);
  const std::string instance = scope.compute_instance ? absl::StrCat(*scope.compute_instance) : "";
  TakePartitionGauge(*scope.partition, Known(Labels{{"partition", partition}, {"compute_instance", instance}}), *value);
}

void BoardSeries::TakePartitionGauge(uint8_t, SensorLabels labels, double value) { TakeGauge(labels, value); }

void BoardSeries::Count(Labels labels, const std::optional<RunningCount>& count) {
  if (count) TakeCount(Known(labels), *count, 1);
}

void BoardSeries::MilliCount(Labels labels, const std::optional<RunningCount>& count) {
  constexpr uint32_t kThousandths = 1000;
  if (count) TakeCount(Known(labels), *count, kThousandths);
}

std::vector<BoardMetricFamily> BoardMetricFamilies() {
  std::vector<BoardMetricFamily> families;
  for (const MetricHelp& row : kRatios) AddFamilies<&MetricValues::ratios>(row, "_ratio", families);
  for (const MetricHelp& row : kBandwidths) {
    AddFamilies<&MetricValues::bytes_per_second>(row, "_bytes_per_second", families);
  }
  return families;
}

std::span<const BoardFamilyRow> BoardStateFamilies() { return kStateFamilies; }

std::span<const SensorFamily> SensorFamilies() {
  static const std::vector<SensorFamily>& families = *new std::vector<SensorFamily>(SortedFamilies());
  return families;
}

}  // namespace sideband::daemon
