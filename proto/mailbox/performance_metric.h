// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GPU_PERFORMANCE_MONITORING (opcode 0x28). The numbers are those of NVIDIA's public smbpbi.h
// (open-gpu-kernel-modules, MIT).
//   arg1 = action << 6 | metric
//   arg2 = FF: the whole device; else partition 5:0, and bit 7 for the compute instance in data-in 15:8
#ifndef SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
#define SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_

#include <cstdint>

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
  // 11 to 16: per link and per engine instance.
  kIntegerActivity = 0x17,
  kDmmaActivity = 0x18,
  kHmmaActivity = 0x19,
  kImmaActivity = 0x1A,
};
// Metrics are numbered from 0 to one less.
inline constexpr uint8_t kMetricCount = static_cast<uint8_t>(MetricId::kImmaActivity) + 1;

inline constexpr uint8_t kWholeDevice = 0xFF;
inline constexpr uint8_t kPartitionMask = 0x3F;
inline constexpr uint8_t kComputeInstanceBit = 0x80;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_PERFORMANCE_METRIC_H_
