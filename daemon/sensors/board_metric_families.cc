// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

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

// Those for each link are families of the links, those for each decoder of the decoders.
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

}  // namespace

std::vector<BoardMetricFamily> BoardMetricFamilies() {
  std::vector<BoardMetricFamily> families;
  for (const MetricHelp& row : kRatios) AddFamilies<&MetricValues::ratios>(row, "_ratio", families);
  for (const MetricHelp& row : kBandwidths) {
    AddFamilies<&MetricValues::bytes_per_second>(row, "_bytes_per_second", families);
  }
  return families;
}

}  // namespace sideband::daemon
