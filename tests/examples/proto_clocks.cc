// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/clocks/affine_strip.h"
#include "proto/clocks/clock_limits.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/counts_within.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/clocks/test_clock.h"

namespace sideband::clocks {
namespace {

void RestartNumbers();
void Publish(Instant middle, Ticks half_width);
void Publish(uint64_t lower, uint64_t upper);

absl::Status UseClockLimits() {
  //@ proto/clocks/clock_limits.h
  return absl::OkStatus();
}

void UseAffineStrip(const std::vector<StripBar>& bars) {
  //@ proto/clocks/affine_strip.h
}

absl::Status UseClockStrip(const ClockLimits& limits, const ClockPacket& packet) {
  //@ proto/clocks/clock_strip.h
  return absl::OkStatus();
}

absl::Status UseCountsWithin(const ClockStrip& strip, Instant start, Instant end) {
  //@ proto/clocks/counts_within.h
  return absl::OkStatus();
}

void UseTestClock(const InstantRange& range) {
  //@ proto/clocks/test_clock.h
}

absl::Status UseMailboxClocks(const mailbox::ClockDomain& domain, const mailbox::TimelineEntry& entry) {
  //@ proto/clocks/mailbox_clocks.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::clocks
