// SPDX-License-Identifier: Apache-2.0
//
// The bandwidths of GPU_PERFORMANCE_MONITORING in bytes per second, of a board whose links are known: the share of
// cycles with a transfer, of what the links carry. (docs/design/smbpbi-facts.md, 3.4)
//   const LinkBandwidth links(spec);
//   if (const auto most = links.MostOf(metric)) return links.ReplyOf(percent / 100 * *most, arg1, arg2);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_LINK_BANDWIDTH_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_LINK_BANDWIDTH_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/performance_metric.h"
#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Immutable. Without links by default.
class LinkBandwidth {
 public:
  LinkBandwidth() = default;
  explicit LinkBandwidth(const BoardSpec& spec);

  // Bytes per second that the metric's links carry in one direction; nullopt for other metrics, and without the links.
  std::optional<double> MostOf(mailbox::MetricId metric) const;
  // 5D in the finest unit in which it fits, and the unit's number in bits 2:0 of the word, beside the echo of a command
  // with these arguments.
  static Reply ReplyOf(double bytes_per_second, uint8_t arg1, uint8_t arg2);

 private:
  std::optional<double> pcie_, nvlink_, each_nvlink_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_LINK_BANDWIDTH_H_
