// SPDX-License-Identifier: Apache-2.0
//
// The lower convex hull of points that arrive with ascending x. Both hulls of a strip are such chains: that of the
// lower ends has its values negated.
//   ConvexChain chain;
//   for (const Vertex& point : points) chain.Push(point);
//   const absl::int128 below_all_of_them = chain.CeilAt(x);
#ifndef SIDEBAND_PROTO_CLOCKS_CONVEX_CHAIN_H_
#define SIDEBAND_PROTO_CLOCKS_CONVEX_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"

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

// Not thread-safe.
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

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_CONVEX_CHAIN_H_
