// SPDX-License-Identifier: Apache-2.0
//
// All straight lines through a segment's bars. They bound the clock at every edge, if it is affine up to the wander; if
// no line is left, it was not. (clocks.md, 5: "Strip", "Refutation".)
//   AffineStrip strip(/*wander=*/0);
//   for (const StripBar& bar : bars) {
//     if (!strip.Add(bar)) break;  // refuted
//   }
//   const std::optional<StripRange> range = strip.At(500);
#ifndef SIDEBAND_PROTO_CLOCKS_AFFINE_STRIP_H_
#define SIDEBAND_PROTO_CLOCKS_AFFINE_STRIP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "proto/clocks/convex_chain.h"

namespace sideband::clocks {

// An edge was between `low` and `high`. Relative to the segment's start; |x| <= kXMax, |low| and |high| <= kYMax.
struct StripBar {
  int64_t x = 0;
  int64_t low = 0, high = 0;
};

// Relative to the segment's start, rounded outward.
struct StripRange {
  absl::int128 low, high;
  bool operator==(const StripRange&) const = default;
};

// Bits of a period's fraction of a tick.
inline constexpr int kPeriodFractionBits = 32;

// Of a local period, in 2^-32 ticks, rounded outward.
struct PeriodRange {
  absl::int128 low, high;
  bool operator==(const PeriodRange&) const = default;
};

// Not thread-safe. Lines have two freedoms: the steepest one touches the lower hull's front and a vertex of the upper
// hull, the flattest one the upper hull's front and a vertex of the lower. Bars before both fronts bound no line any
// more, now or later, so that their vertices are dropped and nothing is lost.
class AffineStrip {
 public:
  explicit AffineStrip(uint32_t wander) : wander_(wander) {}

  // x must be above that of the bar before. False if no line is left: then the strip is as before.
  bool Add(const StripBar& bar);

  // Where the clock is, if it is affine; |x| <= 2 kXMax. Empty with no bar, and with one at another x.
  std::optional<StripRange> At(int64_t x) const;
  // Empty with less than two bars.
  std::optional<PeriodRange> Period() const;

  // Bars added; at least 3 could have refuted each other.
  uint64_t bars() const { return bars_; }
  // For segments that take no more bars: widens the strip until no hull has more vertices, and frees memory.
  void Shrink(size_t vertices_max);

  // The hulls, of bars that are widened by the wander; the lower one is negated.
  const ConvexChain& upper() const { return upper_; }
  const ConvexChain& negated_lower() const { return lower_; }

  // The strip that has these hulls, which may be hostile: INVALID_ARGUMENT if no strip has them. `bars` is taken as it
  // is.
  static absl::StatusOr<AffineStrip> OfHulls(uint32_t wander, uint64_t bars, const std::vector<Vertex>& upper,
                                             const std::vector<Vertex>& negated_lower);

 private:
  bool IsPoint() const { return bars_ == 1; }

  uint32_t wander_;
  uint64_t bars_ = 0;
  ConvexChain upper_;
  ConvexChain lower_;
};

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_AFFINE_STRIP_H_
