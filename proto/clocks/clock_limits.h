// SPDX-License-Identifier: Apache-2.0
//
// Points on the reference axis, what a device declares of a clock, and what one trigger says of it. (clocks.md,
// sections 4 and 5.) No type here depends on the unit: the host's fit counts 2^-16 nanoseconds in the same types.
//   const Instant sent = Instant::OfCycles(501'200);
//   const Ticks late = Instant(sent.ticks() + 3) - sent;   // 3 / 65536 cycles
//
//   const ClockLimits limits{.period_shortest = 32768, .period_longest = 98304, .bar_low = 0, .bar_high = 196608};
//   SIDEBAND_RETURN_IF_ERROR(CheckLimits(limits));
//   SIDEBAND_ASSIGN_OR_RETURN(const InstantRange bar, BarOf({.reference = sent + late, .edge = 150}, limits));
#ifndef SIDEBAND_PROTO_CLOCKS_CLOCK_LIMITS_H_
#define SIDEBAND_PROTO_CLOCKS_CLOCK_LIMITS_H_

#include <cstdint>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sideband::clocks {

// A distance of two instants, in 2^-16 reference cycles.
using Ticks = absl::int128;

inline constexpr int64_t kTicksPerCycle = int64_t{1} << 16;

// An instant from outside is valid if it is less than this far from zero: 2^80 cycles.
inline constexpr Ticks kInstantLimit = Ticks(1) << 96;

// A point on the reference axis: a signed count of 2^-16 reference cycles, of 128 bits.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(Ticks ticks) : ticks_(ticks) {}
  static Instant OfCycles(uint64_t cycles) { return Instant(Ticks(cycles) * kTicksPerCycle); }
  // Before and after every valid instant: the ends of a bound that is open on this side.
  static constexpr Instant Earliest() { return Instant(-(Ticks(1) << 126)); }
  static constexpr Instant Latest() { return Instant(Ticks(1) << 126); }

  constexpr Ticks ticks() const { return ticks_; }
  constexpr bool IsValid() const { return -kInstantLimit < ticks_ && ticks_ < kInstantLimit; }

  friend constexpr bool operator==(Instant a, Instant b) { return a.ticks_ == b.ticks_; }
  friend constexpr bool operator<(Instant a, Instant b) { return a.ticks_ < b.ticks_; }
  friend constexpr bool operator>(Instant a, Instant b) { return a.ticks_ > b.ticks_; }
  friend constexpr bool operator<=(Instant a, Instant b) { return a.ticks_ <= b.ticks_; }
  friend constexpr bool operator>=(Instant a, Instant b) { return a.ticks_ >= b.ticks_; }
  // Results must stay within 2^127 ticks.
  friend constexpr Instant operator+(Instant a, Ticks b) { return Instant(a.ticks_ + b); }
  friend constexpr Instant operator-(Instant a, Ticks b) { return Instant(a.ticks_ - b); }
  friend constexpr Ticks operator-(Instant a, Instant b) { return a.ticks_ - b.ticks_; }

 private:
  Ticks ticks_ = 0;
};

// Closed: from `low` to `high`.
struct InstantRange {
  Instant low, high;
  bool operator==(const InstantRange&) const = default;
  bool IsBounded() const { return low > Instant::Earliest() && high < Instant::Latest(); }
  Ticks width() const { return high - low; }
  // Rounded down. The range must be bounded.
  Instant middle() const { return low + (high - low) / 2; }
};

// All in ticks, 2^-16 reference cycles.
struct ClockLimits {
  uint64_t period_shortest = 0;  // the local clock's, at any time
  uint64_t period_longest = 0;   // 0: the clock may stop
  // A packet's edge is at least `bar_low` and at most `bar_high` after its trigger.
  int64_t bar_low = 0;
  int64_t bar_high = 0;
  // Within a segment a clock that has not changed is at most this far from one straight line.
  uint32_t wander = 0;
  // Packets say when the clock was stepped or stopped; a clock of a fixed frequency announces, too.
  bool announces = false;
  bool operator==(const ClockLimits&) const = default;
};

// Above all plausible limits, and small enough that no product overflows.
inline constexpr uint64_t kPeriodMax = uint64_t{1} << 48;
inline constexpr int64_t kBarMax = int64_t{1} << 56;

struct ClockPacket {
  uint64_t trigger = 0;  // number of the trigger, of which both halves of the packet agree
  Instant reference;     // when the trigger was sent
  uint64_t edge = 0;     // the local clock: the number of the edge that sampled the trigger
  // When the packet was received; the edge was before. A clock that may stop needs it. Where present, it is the end of
  // the bar in place of `bar_high`.
  std::optional<Instant> arrival;
  // The clock was stepped or stopped since the packet before. If that was dropped on the way, its flag must be joined
  // to this one's.
  bool changed = false;
  bool operator==(const ClockPacket&) const = default;
};

// The limits may be hostile. INVALID_ARGUMENT names the limit that is out of range.
absl::Status CheckLimits(const ClockLimits& limits);

// When the packet's edge was. The packet may be hostile, the limits are valid. INVALID_ARGUMENT: an instant out of
// range, a bar that is empty or longer than kBarMax, and a missing arrival.
absl::StatusOr<InstantRange> BarOf(const ClockPacket& packet, const ClockLimits& limits);

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_CLOCK_LIMITS_H_
