// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/board_metric_families.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

struct MetricWord {
  MetricId metric;
  const char* word;  // in the families' names
  const char* help;  // the beginning of a sentence
};

constexpr MetricWord kRatios[] = {
    {MetricId::kEngineActive, "engine_active", "Share of the time in which the graphics engine was active"},
    {MetricId::kSmActivity, "sm_activity", "Share of the time in which an SM had work"},
    {MetricId::kSmOccupancy, "sm_occupancy", "Warps that were resident, as a share of those for which there is room"},
    {MetricId::kTensorActivity, "tensor_activity", "Share of the time in which the tensor cores were active"},
    {MetricId::kDramUsage, "dram_usage", "Share of the memory's bandwidth that was used"},
    {MetricId::kFp64Activity, "fp64_activity", "Share of the time in which the FP64 units were active"},
    {MetricId::kFp32Activity, "fp32_activity", "Share of the time in which the FP32 units were active"},
    {MetricId::kFp16Activity, "fp16_activity", "Share of the time in which the FP16 units were active"},
    {MetricId::kNvdec, "nvdec", "Share of the time in which the video decoders were active"},
    {MetricId::kNvjpg, "nvjpg", "Share of the time in which the JPEG decoders were active"},
    {MetricId::kNvofa, "nvofa", "Share of the time in which the optical flow units were active"},
    {MetricId::kIntegerActivity, "integer_activity", "Share of the time in which the integer units were active"},
    {MetricId::kDmmaActivity, "dmma_activity", "Share of the time in which the tensor cores calculated in FP64"},
    {MetricId::kHmmaActivity, "hmma_activity", "Share of the time in which the tensor cores calculated in FP16"},
    {MetricId::kImmaActivity, "imma_activity", "Share of the time in which the tensor cores calculated in integers"},
};

constexpr MetricWord kBandwidths[] = {
    {MetricId::kPcieTx, "pcie_tx", "Bytes sent by PCIe"},
    {MetricId::kPcieRx, "pcie_rx", "Bytes received by PCIe"},
    {MetricId::kNvlinkRawTx, "nvlink_raw_tx", "Bytes sent by NVLink, with its protocol"},
    {MetricId::kNvlinkDataTx, "nvlink_data_tx", "Bytes of data sent by NVLink"},
    {MetricId::kNvlinkRawRx, "nvlink_raw_rx", "Bytes received by NVLink, with its protocol"},
    {MetricId::kNvlinkDataRx, "nvlink_data_rx", "Bytes of data received by NVLink"},
};

// Those for each link and each decoder.
constexpr size_t kMetricsNotRead = 6;
static_assert(std::size(kRatios) + std::size(kBandwidths) + kMetricsNotRead == mailbox::kMetricCount);

using Values = std::map<MetricId, double> MetricValues::*;

template <Values kValues>
void WriteDevice(MetricId metric, BoardSeries& out) {
  const auto values = out.reading().metrics.scopes.find({});
  if (values != out.reading().metrics.scopes.end()) out.Gauge({}, Find(values->second.*kValues, metric));
}

std::string NumberOrNothing(std::optional<uint8_t> number) { return number ? absl::StrCat(*number) : ""; }

template <Values kValues>
void WritePartitions(MetricId metric, BoardSeries& out) {
  for (const auto& [scope, values] : out.reading().metrics.scopes) {
    if (!scope.partition) continue;
    out.Gauge({{"partition", absl::StrCat(*scope.partition)}, {"instance", NumberOrNothing(scope.compute_instance)}},
              Find(values.*kValues, metric));
  }
}

template <Values kValues>
void AddFamilies(const MetricWord& row, const char* unit, std::vector<BoardMetricFamily>& families) {
  families.push_back({absl::StrCat("sideband_board_", row.word, unit), absl::StrCat(row.help, ", of the whole device."),
                      row.metric, WriteDevice<kValues>});
  families.push_back({absl::StrCat("sideband_partition_", row.word, unit),
                      absl::StrCat(row.help, ", of a partition or one of its compute instances."), row.metric,
                      WritePartitions<kValues>});
}

}  // namespace

std::vector<BoardMetricFamily> BoardMetricFamilies() {
  std::vector<BoardMetricFamily> families;
  for (const MetricWord& row : kRatios) AddFamilies<&MetricValues::ratios>(row, "_ratio", families);
  for (const MetricWord& row : kBandwidths) {
    AddFamilies<&MetricValues::bytes_per_second>(row, "_bytes_per_second", families);
  }
  return families;
}

}  // namespace sideband::daemon
