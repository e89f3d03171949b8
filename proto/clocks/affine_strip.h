// SPDX-License-Identifier: Apache-2.0
//
// All straight lines through the bars of a segment, by two convex hulls. All in integers, rounded outward, so that a
// bound stays a bound. (clocks.md, section 5: "Strip", "Refutation".)
//   AffineStrip strip(/*wander=*/0);
//   for (const StripBar& bar : bars) {
//     if (!strip.Add(bar)) break;   // no line is left: the clock was not affine
//   }
//   const std::optional<StripRange> range = strip.At(30'205);
#ifndef SIDEBAND_PROTO_CLOCKS_AFFINE_STRIP_H_
#define SIDEBAND_PROTO_CLOCKS_AFFINE_STRIP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace sideband::clocks {

// A local edge and an instant, both relative to the segment's start, so that products of two differences fit 128 bits.
struct Vertex {
  int64_t x = 0;
  int64_t y = 0;
  bool operator==(const Vertex&) const = default;
};

inline constexpr int64_t kXMax = int64_t{1} << 60;
inline constexpr int64_t kYMax = int64_t{1} << 61;

// The most vertices of a chain.
inline constexpr size_t kVerticesMax = 64;

// Above 0 if `c` is above the line through `a` and `b`; a.x < b.x.
inline absl::int128 Above(const Vertex& a, const Vertex& b, const Vertex& c) {
  return absl::int128(b.x - a.x) * (c.y - a.y) - absl::int128(b.y - a.y) * (c.x - a.x);
}

// The line through `a` and `b` at x, rounded up; a.x < b.x, and x is at most 2 kXMax from both.
absl::int128 CeilOfLine(const Vertex& a, const Vertex& b, int64_t x);

// The lower convex hull of points that arrive with ascending x. Both hulls of a strip are such chains: that of the
// lower ends has its values negated. Not thread-safe.
class ConvexChain {
 public:
  // x must be above that of every vertex. A full chain first loses the inner vertex whose removal lifts the chain
  // least.
  void Push(const Vertex& point);
  // Drops vertices at the front for which the next one is closer to a line through `point` that turns about it: the
  // first that is left is the tangent point as seen from `point`, whose x is that of the last vertex. Vertices from the
  // contact on stay.
  void TurnFront(const Vertex& point);
  // Removes inner vertices, those that lift the chain least first.
  void Thin(size_t vertices_max);

  // The vertex where the steepest line below the chain touches it; it is never removed.
  void TouchLast() { contact_ = vertices_.size() - 1; }
  void TouchAt(size_t vertex) { contact_ = vertex; }
  const Vertex& contact() const { return vertices_[contact_]; }

  // The chain at x, between the first and the last vertex.
  absl::int128 CeilAt(int64_t x) const;

  bool empty() const { return vertices_.empty(); }
  const Vertex& front() const { return vertices_.front(); }
  const Vertex& back() const { return vertices_.back(); }
  std::span<const Vertex> vertices() const { return vertices_; }
  size_t heap_bytes() const { return vertices_.capacity() * sizeof(Vertex); }
  void ShrinkToFit() { vertices_.shrink_to_fit(); }

 private:
  void RemoveLeast();

  std::vector<Vertex> vertices_;
  size_t contact_ = 0;
};

// An edge was between `low` and `high`. Relative to the segment's start; |x| <= kXMax, |low| and |high| <= kYMax.
struct StripBar {
  int64_t x = 0;
  int64_t low = 0, high = 0;
};

// A range of instants relative to the segment's start, rounded outward.
struct StripRange {
  absl::int128 low, high;
  bool operator==(const StripRange&) const = default;
};

// Bits of a period's fraction of a tick.
inline constexpr int kPeriodFractionBits = 32;

// The range of a local period in 2^-32 ticks, rounded outward.
struct PeriodRange {
  absl::int128 low, high;
  bool operator==(const PeriodRange&) const = default;
};

// All straight lines through a segment's bars. They bound the clock at every edge, if it is affine up to the wander; if
// no line is left, it was not. (clocks.md, 5: "Strip", "Refutation".) Not thread-safe. Lines have two freedoms: the
// steepest one touches the lower hull's front and a vertex of the upper hull, the flattest one the upper hull's front
// and a vertex of the lower. Bars before both fronts bound no line any more, now or later, so that their vertices are
// dropped and nothing is lost.
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
