// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GPU_PERFORMANCE_MONITORING (opcode 0x28). The numbers are those of NVIDIA's public smbpbi.h
// (open-gpu-kernel-modules, MIT).
//   arg1 = action << 6 | metric
//   arg2 = FF: the whole device; else partition 5:0, and bit 7 for the compute instance in data-in 15:8
#ifndef SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
#define SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sideband::mailbox {

enum class MonitoringAction : uint8_t {
  kInstantaneous = 0,
  kSnapshotMetric = 1,
  kCapture = 2,
  kSetMultiplier = 3,  // arg2: 1, 2, 5, 10 or 100
};

enum class MetricId : uint8_t {
  kEngineActive = 0x00,
  kSmActivity = 0x01,
  kSmOccupancy = 0x02,
  kTensorActivity = 0x03,
  kDramUsage = 0x04,
  kFp64Activity = 0x05,
  kFp32Activity = 0x06,
  kFp16Activity = 0x07,
  kPcieTx = 0x08,
  kPcieRx = 0x09,
  kNvlinkRawTx = 0x0A,
  kNvlinkDataTx = 0x0B,
  kNvlinkRawRx = 0x0C,
  kNvlinkDataRx = 0x0D,
  kNvdec = 0x0E,
  kNvjpg = 0x0F,
  kNvofa = 0x10,
  kNvlinkRawTxPerLink = 0x11,
  kNvlinkDataTxPerLink = 0x12,
  kNvlinkRawRxPerLink = 0x13,
  kNvlinkDataRxPerLink = 0x14,
  kNvdecPerInstance = 0x15,
  kNvjpgPerInstance = 0x16,
  kIntegerActivity = 0x17,
  kDmmaActivity = 0x18,
  kHmmaActivity = 0x19,
  kImmaActivity = 0x1A,
};

struct MetricRow {
  MetricId metric;
  const char* name;  // our own wording
  const char* word;  // in the names of Prometheus' metrics, and in policies
};

// In the order of their numbers, which have no gap.
inline constexpr MetricRow kMetrics[] = {
    {MetricId::kEngineActive, "engine active", "engine_active"},
    {MetricId::kSmActivity, "SM activity", "sm_activity"},
    {MetricId::kSmOccupancy, "SM occupancy", "sm_occupancy"},
    {MetricId::kTensorActivity, "tensor activity", "tensor_activity"},
    {MetricId::kDramUsage, "DRAM usage", "dram_usage"},
    {MetricId::kFp64Activity, "FP64 activity", "fp64_activity"},
    {MetricId::kFp32Activity, "FP32 activity", "fp32_activity"},
    {MetricId::kFp16Activity, "FP16 activity", "fp16_activity"},
    {MetricId::kPcieTx, "PCIe TX", "pcie_tx"},
    {MetricId::kPcieRx, "PCIe RX", "pcie_rx"},
    {MetricId::kNvlinkRawTx, "NVLink raw TX", "nvlink_raw_tx"},
    {MetricId::kNvlinkDataTx, "NVLink data TX", "nvlink_data_tx"},
    {MetricId::kNvlinkRawRx, "NVLink raw RX", "nvlink_raw_rx"},
    {MetricId::kNvlinkDataRx, "NVLink data RX", "nvlink_data_rx"},
    {MetricId::kNvdec, "NVDEC utilisation", "nvdec"},
    {MetricId::kNvjpg, "NVJPG utilisation", "nvjpg"},
    {MetricId::kNvofa, "NVOFA utilisation", "nvofa"},
    {MetricId::kNvlinkRawTxPerLink, "NVLink raw TX/link", "nvlink_raw_tx_per_link"},
    {MetricId::kNvlinkDataTxPerLink, "NVLink data TX/link", "nvlink_data_tx_per_link"},
    {MetricId::kNvlinkRawRxPerLink, "NVLink raw RX/link", "nvlink_raw_rx_per_link"},
    {MetricId::kNvlinkDataRxPerLink, "NVLink data RX/link", "nvlink_data_rx_per_link"},
    {MetricId::kNvdecPerInstance, "NVDEC/instance", "nvdec_per_instance"},
    {MetricId::kNvjpgPerInstance, "NVJPG/instance", "nvjpg_per_instance"},
    {MetricId::kIntegerActivity, "integer utilisation", "integer_activity"},
    {MetricId::kDmmaActivity, "FP64 tensor utilisation", "dmma_activity"},
    {MetricId::kHmmaActivity, "FP16 tensor utilisation", "hmma_activity"},
    {MetricId::kImmaActivity, "INT tensor utilisation", "imma_activity"},
};
inline constexpr uint8_t kMetricCount = std::size(kMetrics);

constexpr const char* WordOf(MetricId metric) { return kMetrics[static_cast<size_t>(metric)].word; }

inline constexpr uint8_t kWholeDevice = 0xFF;
inline constexpr uint8_t kPartitionMask = 0x3F;
inline constexpr uint8_t kComputeInstanceBit = 0x80;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
