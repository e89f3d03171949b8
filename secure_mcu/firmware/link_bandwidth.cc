// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/link_bandwidth.h"

#include <array>
#include <cmath>
#include <limits>

#include "proto/mailbox/link_info.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {
namespace {

using mailbox::MetricId;

// Of a lane, by generation from 1 on, after line coding (8b/10b, then 128b/130b).
constexpr std::array<double, mailbox::kPcieSpeedMax> kLaneBytesPerSecond = {250e6, 500e6, 8e9 * 128 / 130 / 8,
                                                                            16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8};
constexpr double kBytesPerSecondOfMbps = 1e6 / 8;
constexpr uint32_t kGranularityMax = 3;

}  // namespace

LinkBandwidth::LinkBandwidth(const BoardSpec& spec) {
  if (spec.pcie) pcie_ = kLaneBytesPerSecond[spec.pcie->generation - 1] * spec.pcie->lanes;
  if (!spec.nvlink) return;
  each_nvlink_ = spec.nvlink->mbps * kBytesPerSecondOfMbps;
  nvlink_ = *each_nvlink_ * spec.nvlink->count;
}

std::optional<double> LinkBandwidth::MostOf(MetricId metric) const {
  switch (metric) {
    case MetricId::kPcieTx:
    case MetricId::kPcieRx:
      return pcie_;
    case MetricId::kNvlinkRawTx:
    case MetricId::kNvlinkDataTx:
    case MetricId::kNvlinkRawRx:
    case MetricId::kNvlinkDataRx:
      return nvlink_;
    case MetricId::kNvlinkRawTxPerLink:
    case MetricId::kNvlinkDataTxPerLink:
    case MetricId::kNvlinkRawRxPerLink:
    case MetricId::kNvlinkDataRxPerLink:
      return each_nvlink_;
    case MetricId::kEngineActive:
    case MetricId::kSmActivity:
    case MetricId::kSmOccupancy:
    case MetricId::kTensorActivity:
    case MetricId::kDramUsage:
    case MetricId::kFp64Activity:
    case MetricId::kFp32Activity:
    case MetricId::kFp16Activity:
    case MetricId::kNvdec:
    case MetricId::kNvjpg:
    case MetricId::kNvofa:
    case MetricId::kNvdecPerInstance:
    case MetricId::kNvjpgPerInstance:
    case MetricId::kIntegerActivity:
    case MetricId::kDmmaActivity:
    case MetricId::kHmmaActivity:
    case MetricId::kImmaActivity:
      break;
  }
  return std::nullopt;
}

Reply LinkBandwidth::ReplyOf(double bytes_per_second, uint8_t arg1, uint8_t arg2) {
  uint32_t granularity = 0;
  while (bytes_per_second > std::numeric_limits<uint32_t>::max() && granularity < kGranularityMax) {
    bytes_per_second /= 1024;
    ++granularity;
  }
  const uint32_t echo = static_cast<uint32_t>(mailbox::Opcode::kPerformanceMonitoring) | arg1 << 8 | arg2 << 16;
  return {.data = static_cast<uint32_t>(std::llround(bytes_per_second)), .word_bits = echo | granularity};
}

}  // namespace sideband::mcu
