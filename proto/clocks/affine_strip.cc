// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/affine_strip.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"

namespace sideband::clocks {
namespace {

// Rounded up, so that a bound stays a bound; `divisor` is above 0.
absl::int128 CeilQuotient(absl::int128 value, absl::int128 divisor) {
  const absl::int128 quotient = value / divisor;
  return quotient * divisor < value ? quotient + 1 : quotient;
}

// How far the chain rises at `b` if it goes, rounded down.
absl::int128 LiftWithout(const Vertex& a, const Vertex& b, const Vertex& c) { return -Above(a, c, b) / (c.x - a.x); }

// Everything is written once, for the upper side: with all values negated the lower side is an upper one, and the
// flattest line is the steepest.
struct Line {
  Vertex a, b;
};

Vertex Negated(const Vertex& vertex) { return {vertex.x, -vertex.y}; }

Line Steepest(const ConvexChain& upper, const ConvexChain& lower) { return {Negated(lower.front()), upper.contact()}; }

Line Flattest(const ConvexChain& upper, const ConvexChain& lower) { return {upper.front(), Negated(lower.contact())}; }

absl::int128 Above(const Line& line, const Vertex& vertex) { return clocks::Above(line.a, line.b, vertex); }

// The highest of all lines at x, rounded up.
absl::int128 HighestAt(const ConvexChain& upper, const ConvexChain& lower, int64_t x) {
  const Line steepest = Steepest(upper, lower);
  if (x >= steepest.b.x) return CeilOfLine(steepest.a, steepest.b, x);
  if (x > upper.front().x) return upper.CeilAt(x);
  const Line flattest = Flattest(upper, lower);
  return CeilOfLine(flattest.a, flattest.b, x);
}

absl::int128 LargestPeriod(const ConvexChain& upper, const ConvexChain& lower) {
  const auto [a, b] = Steepest(upper, lower);
  return CeilQuotient(absl::int128(b.y - a.y) << kPeriodFractionBits, b.x - a.x);
}

// The end of a bar becomes a vertex.
void Push(ConvexChain& chain, const Vertex& vertex, bool touches) {
  chain.Push(vertex);
  if (touches) chain.TouchLast();
}

absl::Status CheckHull(const std::vector<Vertex>& hull) {
  if (hull.empty() || hull.size() > kVerticesMax) return absl::InvalidArgumentError("wrong number of vertices");
  for (const Vertex& vertex : hull) {
    if (vertex.x < 0 || vertex.x > kXMax || vertex.y < -kYMax || vertex.y > kYMax) {
      return absl::InvalidArgumentError("a vertex is out of range");
    }
  }
  for (size_t i = 1; i < hull.size(); ++i) {
    if (hull[i].x <= hull[i - 1].x) return absl::InvalidArgumentError("vertices do not ascend");
    if (i >= 2 && clocks::Above(hull[i - 2], hull[i - 1], hull[i]) <= 0) {
      return absl::InvalidArgumentError("a hull is not convex");
    }
  }
  return absl::OkStatus();
}

ConvexChain ChainOf(const std::vector<Vertex>& hull) {
  ConvexChain chain;
  for (const Vertex& vertex : hull) chain.Push(vertex);
  return chain;
}

// Finds the vertex that the steepest line touches; false if there is none, or the line is not between the hulls.
bool FindContact(ConvexChain& upper, const ConvexChain& lower) {
  const Vertex front = Negated(lower.front());
  const auto vertices = upper.vertices();
  std::optional<size_t> contact;
  for (size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].x <= front.x) continue;
    if (!contact.has_value() || clocks::Above(front, vertices[*contact], vertices[i]) <= 0) contact = i;
  }
  if (!contact.has_value()) return false;
  upper.TouchAt(*contact);
  const Line line{front, vertices[*contact]};
  return std::ranges::all_of(vertices, [&](const Vertex& vertex) { return Above(line, vertex) >= 0; }) &&
         std::ranges::all_of(lower.vertices(), [&](const Vertex& vertex) { return Above(line, Negated(vertex)) <= 0; });
}

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

bool AffineStrip::Add(const StripBar& bar) {
  const Vertex high{bar.x, bar.high + wander_}, low{bar.x, bar.low - wander_};
  bool lowers_steepest = true, lifts_flattest = true;
  if (bars_ >= 2) {
    const Line steepest = Steepest(upper_, lower_), flattest = Flattest(upper_, lower_);
    if (Above(steepest, low) > 0 || Above(flattest, high) < 0) return false;
    lowers_steepest = Above(steepest, high) <= 0;
    lifts_flattest = Above(flattest, low) >= 0;
  }
  Push(upper_, high, lowers_steepest);
  Push(lower_, Negated(low), lifts_flattest);
  if (bars_ >= 2 && lowers_steepest) lower_.TurnFront(Negated(high));
  if (bars_ >= 2 && lifts_flattest) upper_.TurnFront(low);
  ++bars_;
  return true;
}

std::optional<StripRange> AffineStrip::At(int64_t x) const {
  if (bars_ == 0 || (IsPoint() && x != upper_.front().x)) return std::nullopt;
  if (IsPoint()) return StripRange{-lower_.front().y - wander_, absl::int128(upper_.front().y) + wander_};
  return StripRange{-HighestAt(lower_, upper_, x) - wander_, HighestAt(upper_, lower_, x) + wander_};
}

std::optional<PeriodRange> AffineStrip::Period() const {
  if (bars_ < 2) return std::nullopt;
  return PeriodRange{-LargestPeriod(lower_, upper_), LargestPeriod(upper_, lower_)};
}

void AffineStrip::Shrink(size_t vertices_max) {
  for (ConvexChain* chain : {&upper_, &lower_}) {
    chain->Thin(vertices_max);
    chain->ShrinkToFit();
  }
}

absl::StatusOr<AffineStrip> AffineStrip::OfHulls(uint32_t wander, uint64_t bars, const std::vector<Vertex>& upper,
                                                 const std::vector<Vertex>& negated_lower) {
  for (const auto* hull : {&upper, &negated_lower}) {
    if (const absl::Status status = CheckHull(*hull); !status.ok()) return status;
  }
  if (upper.back().x != negated_lower.back().x) return absl::InvalidArgumentError("the hulls end at different edges");
  AffineStrip strip(wander);
  strip.bars_ = bars;
  strip.upper_ = ChainOf(upper);
  strip.lower_ = ChainOf(negated_lower);
  const Vertex low = Negated(strip.lower_.back());
  if (low.y > strip.upper_.back().y) return absl::InvalidArgumentError("a bar ends before it begins");
  if (bars == 1 && upper.size() == 1 && negated_lower.size() == 1) return strip;
  if (bars < 2) return absl::InvalidArgumentError("more vertices than bars");
  if (!FindContact(strip.upper_, strip.lower_) || !FindContact(strip.lower_, strip.upper_)) {
    return absl::InvalidArgumentError("no line lies between the hulls");
  }
  return strip;
}

}  // namespace sideband::clocks
