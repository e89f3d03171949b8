// SPDX-License-Identifier: Apache-2.0
//
// Command and reply words of GPU_PERFORMANCE_MONITORING (docs/design/smbpbi-facts.md, 3.4).
//   const auto word = MetricCommand(MonitoringAction::kSnapshotMetric, MetricId::kPcieTx, mailbox::kWholeDevice);
//   if (const auto rate = BytesPerSecondOf(reply)) Show(*rate);
//   if (const auto ratio = RatioOf(reply)) Show(*ratio);
#ifndef SIDEBAND_DAEMON_BOARD_METRIC_WORDS_H_
#define SIDEBAND_DAEMON_BOARD_METRIC_WORDS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

inline mailbox::CommandWord MetricCommand(mailbox::MonitoringAction action, mailbox::MetricId metric, uint8_t arg2) {
  const auto arg1 = static_cast<uint8_t>(static_cast<int>(action) << 6 | static_cast<int>(metric));
  return {.opcode = mailbox::Opcode::kPerformanceMonitoring, .arg1 = arg1, .arg2 = arg2, .execute = true};
}

// The value of a metric that is a bandwidth. The unit is 1024^granularity bytes, in the lowest bits of the reply's
// word, where the echoed opcode has zeros. nullopt: a granularity that is not defined.
inline std::optional<double> BytesPerSecondOf(const BoardReply& reply) {
  constexpr int kGranularityMax = 3;
  const int granularity = static_cast<int>(reply.word.opcode) & 7;
  if (granularity > kGranularityMax) return std::nullopt;
  return static_cast<double>(uint64_t{reply.data} << 10 * granularity);
}

// The value of a metric that is a percentage, in s24.8 as temperatures are: 0 to 1. nullopt: it is implausible.
inline std::optional<double> RatioOf(const BoardReply& reply) {
  const double percent = mailbox::DegreesOf(reply.data);
  if (percent < 0 || percent >= kPercentExcess) return std::nullopt;
  return std::min(percent, kPercentMax) / kPercentMax;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_METRIC_WORDS_H_
