// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GPU_PERFORMANCE_MONITORING (opcode 0x28). The numbers are those of NVIDIA's public smbpbi.h
// (open-gpu-kernel-modules, MIT).
//   arg1 = action << 6 | metric
//   arg2 = FF: the whole device; else partition 5:0, and bit 7 for the compute instance in data-in 15:8
#ifndef SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
#define SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_

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
};

// In the order of their numbers, which have no gap.
inline constexpr MetricRow kMetrics[] = {
    {MetricId::kEngineActive, "engine active"},
    {MetricId::kSmActivity, "SM activity"},
    {MetricId::kSmOccupancy, "SM occupancy"},
    {MetricId::kTensorActivity, "tensor activity"},
    {MetricId::kDramUsage, "DRAM usage"},
    {MetricId::kFp64Activity, "FP64 activity"},
    {MetricId::kFp32Activity, "FP32 activity"},
    {MetricId::kFp16Activity, "FP16 activity"},
    {MetricId::kPcieTx, "PCIe TX"},
    {MetricId::kPcieRx, "PCIe RX"},
    {MetricId::kNvlinkRawTx, "NVLink raw TX"},
    {MetricId::kNvlinkDataTx, "NVLink data TX"},
    {MetricId::kNvlinkRawRx, "NVLink raw RX"},
    {MetricId::kNvlinkDataRx, "NVLink data RX"},
    {MetricId::kNvdec, "NVDEC utilisation"},
    {MetricId::kNvjpg, "NVJPG utilisation"},
    {MetricId::kNvofa, "NVOFA utilisation"},
    {MetricId::kNvlinkRawTxPerLink, "NVLink raw TX/link"},
    {MetricId::kNvlinkDataTxPerLink, "NVLink data TX/link"},
    {MetricId::kNvlinkRawRxPerLink, "NVLink raw RX/link"},
    {MetricId::kNvlinkDataRxPerLink, "NVLink data RX/link"},
    {MetricId::kNvdecPerInstance, "NVDEC/instance"},
    {MetricId::kNvjpgPerInstance, "NVJPG/instance"},
    {MetricId::kIntegerActivity, "integer utilisation"},
    {MetricId::kDmmaActivity, "FP64 tensor utilisation"},
    {MetricId::kHmmaActivity, "FP16 tensor utilisation"},
    {MetricId::kImmaActivity, "INT tensor utilisation"},
};
inline constexpr uint8_t kMetricCount = std::size(kMetrics);

inline constexpr uint8_t kWholeDevice = 0xFF;
inline constexpr uint8_t kPartitionMask = 0x3F;
inline constexpr uint8_t kComputeInstanceBit = 0x80;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
