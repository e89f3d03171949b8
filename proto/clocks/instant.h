// SPDX-License-Identifier: Apache-2.0
//
// Points on the reference axis: signed counts of 2^-16 reference cycles, of 128 bits. Nothing here depends on the unit:
// the host's fit counts 2^-16 nanoseconds in the same type.
//   const Instant sent = Instant::OfCycles(501'200);
//   const Ticks late = Instant(sent.ticks() + 3) - sent;   // 3 / 65536 cycles
//   const bool before = sent < sent + late;
#ifndef SIDEBAND_PROTO_CLOCKS_INSTANT_H_
#define SIDEBAND_PROTO_CLOCKS_INSTANT_H_

#include <cstdint>

#include "absl/numeric/int128.h"

namespace sideband::clocks {

// A distance of two instants, in 2^-16 reference cycles.
using Ticks = absl::int128;

inline constexpr int64_t kTicksPerCycle = int64_t{1} << 16;

// An instant from outside is valid if it is less than this far from zero: 2^80 cycles.
inline constexpr Ticks kInstantLimit = Ticks(1) << 96;

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

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_INSTANT_H_
