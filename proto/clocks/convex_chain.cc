// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/convex_chain.h"

#include <algorithm>
#include <iterator>

#include "proto/clocks/outward.h"

namespace sideband::clocks {
namespace {

// How far the chain rises at `b` if it goes, rounded down.
absl::int128 LiftWithout(const Vertex& a, const Vertex& b, const Vertex& c) { return -Above(a, c, b) / (c.x - a.x); }

}  // namespace

absl::int128 CeilOfLine(const Vertex& a, const Vertex& b, int64_t x) {
  return a.y + CeilQuotient(absl::int128(b.y - a.y) * (x - a.x), b.x - a.x);
}

void ConvexChain::Push(const Vertex& point) {
  while (vertices_.size() >= 2 && Above(vertices_[vertices_.size() - 2], vertices_.back(), point) <= 0) {
    vertices_.pop_back();
  }
  if (vertices_.size() == kVerticesMax) RemoveLeast();
  vertices_.push_back(point);
}

void ConvexChain::TurnFront(const Vertex& point) {
  size_t first = 0;
  // The vertex above `point` is on no line through it.
  const size_t last = std::min(contact_, vertices_.size() - 2);
  while (first < last && Above(vertices_[first], point, vertices_[first + 1]) < 0) ++first;
  if (first == 0) return;
  vertices_.erase(vertices_.begin(), vertices_.begin() + static_cast<std::ptrdiff_t>(first));
  contact_ -= first;
}

void ConvexChain::Thin(size_t vertices_max) {
  while (vertices_.size() > vertices_max) RemoveLeast();
}

void ConvexChain::RemoveLeast() {
  size_t least = 0;
  absl::int128 least_lift = absl::Int128Max();
  for (size_t i = 1; i + 1 < vertices_.size(); ++i) {
    if (i == contact_) continue;
    const absl::int128 lift = LiftWithout(vertices_[i - 1], vertices_[i], vertices_[i + 1]);
    if (lift < least_lift) {
      least_lift = lift;
      least = i;
    }
  }
  vertices_.erase(vertices_.begin() + static_cast<std::ptrdiff_t>(least));
  if (contact_ > least) --contact_;
}

absl::int128 ConvexChain::CeilAt(int64_t x) const {
  const auto next = std::ranges::lower_bound(vertices_, x, {}, &Vertex::x);
  if (next->x == x) return next->y;
  return CeilOfLine(*std::prev(next), *next, x);
}

}  // namespace sideband::clocks
