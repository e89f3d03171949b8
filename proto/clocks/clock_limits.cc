// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/clock_limits.h"

namespace sideband::clocks {

absl::Status CheckLimits(const ClockLimits& limits) {
  const uint64_t shortest = limits.period_shortest, longest = limits.period_longest;
  if (shortest == 0 || shortest > kPeriodMax) return absl::InvalidArgumentError("the shortest period is out of range");
  if (longest > kPeriodMax) return absl::InvalidArgumentError("the longest period is out of range");
  if (longest != 0 && longest < shortest) return absl::InvalidArgumentError("the longest period is below the shortest");
  if (limits.bar_low < -kBarMax || limits.bar_high > kBarMax) {
    return absl::InvalidArgumentError("the bar is out of range");
  }
  if (limits.bar_low > limits.bar_high) return absl::InvalidArgumentError("the bar ends before it begins");
  return absl::OkStatus();
}

absl::StatusOr<InstantRange> BarOf(const ClockPacket& packet, const ClockLimits& limits) {
  if (!packet.reference.IsValid()) return absl::InvalidArgumentError("the reference instant is out of range");
  if (packet.arrival.has_value() && !packet.arrival->IsValid()) {
    return absl::InvalidArgumentError("the arrival is out of range");
  }
  if (limits.period_longest == 0 && !packet.arrival.has_value()) {
    return absl::InvalidArgumentError("a packet of a clock that may stop has no arrival");
  }
  const InstantRange bar{packet.reference + limits.bar_low,
                         packet.arrival.value_or(packet.reference + limits.bar_high)};
  if (bar.low > bar.high) return absl::InvalidArgumentError("the packet arrived before its edge");
  if (bar.width() > kBarMax) return absl::InvalidArgumentError("the bar is too long");
  return bar;
}

}  // namespace sideband::clocks
