// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/clock_strip.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
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

namespace {

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

namespace {

// Anchors further from the origin move it; those that are then further than twice that are dropped.
constexpr Ticks kOriginReach = Ticks(1) << 61;

InstantRange Both(const InstantRange& a, const InstantRange& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

}  // namespace

Envelope::Envelope(uint64_t period_shortest, uint64_t period_longest)
    : period_shortest_(period_shortest), period_longest_(period_longest) {
  anchors_.reserve(kAnchorsMax);
}

InstantRange Envelope::After(const Anchor& anchor, uint64_t edge) const {
  const Ticks edges = edge - anchor.edge;
  const InstantRange bar = BarOf(anchor);
  return {bar.low + edges * period_shortest_,
          period_longest_ == 0 ? Instant::Latest() : bar.high + edges * period_longest_};
}

InstantRange Envelope::Before(const Anchor& anchor, uint64_t edge) const {
  const Ticks edges = anchor.edge - edge;
  const InstantRange bar = BarOf(anchor);
  return {period_longest_ == 0 ? Instant::Earliest() : bar.low - edges * period_longest_,
          bar.high - edges * period_shortest_};
}

bool Envelope::Add(uint64_t edge, const InstantRange& bar) {
  const InstantRange tightened = anchors_.empty() ? bar : Both(After(anchors_.back(), edge), bar);
  if (tightened.low > tightened.high) return false;
  if (anchors_.size() == kAnchorsMax) Thin();
  if (anchors_.empty() || tightened.high - origin_ > kOriginReach) MoveOrigin(tightened.low);
  anchors_.push_back(
      {edge, static_cast<int64_t>(tightened.low - origin_), static_cast<int64_t>(tightened.high - origin_)});
  TightenOlder();
  return true;
}

void Envelope::TightenOlder() {
  for (size_t i = anchors_.size() - 1; i > 0; --i) {
    Anchor& older = anchors_[i - 1];
    const Anchor& newer = anchors_[i];
    const Ticks edges = newer.edge - older.edge;
    const Ticks high = newer.high - edges * period_shortest_;
    const Ticks low = period_longest_ == 0 ? Ticks(older.low) : newer.low - edges * period_longest_;
    // Anchors were consistent before: one that does not change changes none before it.
    if (older.low >= low && older.high <= high) return;
    if (older.low < low) older.low = static_cast<int64_t>(low);
    if (older.high > high) older.high = static_cast<int64_t>(high);
  }
}

void Envelope::Thin() {
  const uint64_t newest = anchors_.back().edge;
  std::vector<Anchor> kept(anchors_.end() - kAnchorsExact, anchors_.end());
  std::ranges::reverse(kept);
  for (size_t i = anchors_.size() - kAnchorsExact; i > 0 && kept.size() < kAnchorsExact + kAnchorsOld; --i) {
    const Anchor& next = anchors_[i - 1];
    // Without this one, the next gap would be longer than the age at its newer end.
    const bool is_needed = i == 1 || (newest - anchors_[i - 2].edge) / 2 > newest - kept.back().edge;
    if (is_needed) kept.push_back(next);
  }
  std::ranges::reverse(kept);
  std::ranges::copy(kept, anchors_.begin());
  anchors_.resize(kept.size());
}

void Envelope::MoveOrigin(Instant origin) {
  const Ticks distance = origin - origin_;
  std::erase_if(anchors_, [&](const Anchor& anchor) { return anchor.low - distance < -2 * kOriginReach; });
  for (Anchor& anchor : anchors_) {
    anchor.low = static_cast<int64_t>(anchor.low - distance);
    anchor.high = static_cast<int64_t>(anchor.high - distance);
  }
  origin_ = origin;
}

InstantRange Envelope::At(uint64_t edge) const {
  if (anchors_.empty()) return {Instant::Earliest(), Instant::Latest()};
  const auto next = std::ranges::lower_bound(anchors_, edge, {}, &Anchor::edge);
  if (next == anchors_.end()) return After(anchors_.back(), edge);
  // Also of a clock that may stop, which bounds nothing but its own edge on one side.
  if (next->edge == edge) return BarOf(*next);
  if (next == anchors_.begin()) return Before(*next, edge);
  return Both(After(*std::prev(next), edge), Before(*next, edge));
}

namespace {

// The fewest packets that could refute a line.
constexpr uint64_t kHolds = 3;
// Of a segment that is over.
constexpr size_t kVerticesKept = 16;
constexpr uint64_t kEdgeMax = std::numeric_limits<uint64_t>::max();

// An edge from `first` on with `is_late`, of which the edge before is not late or below `first`: the first late one, if
// lateness ascends. kEdgeMax if the last edge is not late.
template <typename IsLate>
uint64_t FirstLate(uint64_t first, const IsLate& is_late) {
  uint64_t late = kEdgeMax;
  while (first < late) {
    const uint64_t middle = first + (late - first) / 2;
    if (is_late(middle)) {
      late = middle;
    } else {
      first = middle + 1;
    }
  }
  return late;
}

// A hull's vertex as a bar's end, without the wander.
Instant HighOf(const StripHulls& hulls, const Vertex& vertex, uint32_t wander) {
  return hulls.origin + (absl::int128(vertex.y) - wander);
}
Instant LowOf(const StripHulls& hulls, const Vertex& vertex, uint32_t wander) {
  return hulls.origin - (absl::int128(vertex.y) - wander);
}

absl::Status CheckOrigin(const StripHulls& hulls) {
  // A bar is around a valid reference.
  const Ticks origin = hulls.origin.ticks(), limit = kInstantLimit + kBarMax;
  if (origin < -limit || origin > limit) return absl::InvalidArgumentError("the origin is out of range");
  if (hulls.first_high < 0 || hulls.first_high > kBarMax)
    return absl::InvalidArgumentError("the first bar is out of range");
  return absl::OkStatus();
}

}  // namespace

ClockStrip::Segment::Segment(const Bar& first_bar, uint32_t wander)
    : first(first_bar), newest(first_bar), strip(wander) {
  Add(first_bar);
}

bool ClockStrip::Segment::Add(const Bar& bar) {
  const Instant origin = first.range.low;
  const StripBar relative{static_cast<int64_t>(bar.edge - first.edge), static_cast<int64_t>(bar.range.low - origin),
                          static_cast<int64_t>(bar.range.high - origin)};
  if (!strip.Add(relative)) return false;
  newest = bar;
  return true;
}

std::optional<InstantRange> ClockStrip::Segment::FitAt(uint64_t edge) const {
  const uint64_t x = edge - first.edge;
  if (edge < first.edge || x > static_cast<uint64_t>(kXMax)) return std::nullopt;
  const auto range = strip.At(static_cast<int64_t>(x));
  if (!range.has_value()) return std::nullopt;
  return InstantRange{first.range.low + range->low, first.range.low + range->high};
}

ClockStrip::ClockStrip(const ClockLimits& limits, Options options)
    : limits_(limits), options_(options), envelope_(limits.period_shortest, limits.period_longest) {}

absl::StatusOr<ClockStrip> ClockStrip::Create(const ClockLimits& limits, Options options) {
  SIDEBAND_RETURN_IF_ERROR(CheckLimits(limits));
  if (options.segment_max <= 0 || options.segment_max > kYMax / 4) {
    return absl::InvalidArgumentError("the greatest length of a segment is out of range");
  }
  return ClockStrip(limits, options);
}

absl::StatusOr<AddResult> ClockStrip::Add(const ClockPacket& packet) {
  SIDEBAND_ASSIGN_OR_RETURN(const InstantRange range, BarOf(packet, limits_));
  const absl::Status order = CheckOrder(packet);
  if (!order.ok() && !restart_) return order;
  const Bar bar{packet.edge, range};
  const bool begins = IsEnvelopeBroken() || !current_.has_value();
  if (restart_ || !envelope_.Add(bar.edge, bar.range)) {
    if (!begins) return Reject(packet);
    ForgetBefore(bar);
  }
  newest_trigger_ = packet.trigger;
  newest_reference_ = packet.reference;
  restart_ = false;
  outside_in_a_row_ = 0;
  const bool missed_change = std::exchange(missed_change_, false);
  return begins ? Begin(bar) : Continue(bar, packet.changed || missed_change);
}

absl::Status ClockStrip::CheckOrder(const ClockPacket& packet) const {
  if (!current_.has_value()) return absl::OkStatus();
  if (packet.trigger <= newest_trigger_) return absl::DataLossError("triggers do not ascend");
  if (packet.edge <= current_->newest.edge) return absl::DataLossError("the local clock goes back");
  if (packet.reference < newest_reference_) return absl::DataLossError("the reference goes back");
  return absl::OkStatus();
}

AddResult ClockStrip::Reject(const ClockPacket& packet) {
  ++counts_.outside;
  missed_change_ = missed_change_ || packet.changed;
  if (++outside_in_a_row_ < kOutsideInARowMax) return AddResult::kOutside;
  ++counts_.resynchronised;
  return AddResult::kResynchronise;
}

// What is known contradicts the packet, or is of another time.
void ClockStrip::ForgetBefore(const Bar& first) {
  if (!restart_) unsound_ = true;
  envelope_ = Envelope(limits_.period_shortest, limits_.period_longest);
  // The first packet of all fits.
  static_cast<void>(envelope_.Add(first.edge, first.range));
  first_edge_ = first.edge;
  before_.reset();
  current_.reset();
}

AddResult ClockStrip::Begin(const Bar& bar) {
  const bool is_first = counts_.segments == 0;
  EndSegment(bar);
  fits_in_a_row_ = 1;
  return is_first ? AddResult::kAdded : AddResult::kAfterRestart;
}

AddResult ClockStrip::Continue(const Bar& bar, bool changed) {
  if (changed) {
    EndSegment(bar);
    fits_in_a_row_ = 1;
    return AddResult::kAfterChange;
  }
  if (IsTooLong(current_->first, bar)) return Lengthen(bar);
  if (!current_->Add(bar)) return Refute(bar);
  NoteFit();
  return AddResult::kAdded;
}

// That packets are far apart is no contradiction.
void ClockStrip::NoteFit() {
  if (++fits_in_a_row_ >= kHolds) unsound_ = false;
}

void ClockStrip::EndSegment(const Bar& first) {
  ++counts_.segments;
  if (current_.has_value()) {
    before_ = std::move(current_);
    before_->strip.Shrink(kVerticesKept);
  }
  current_.emplace(first, limits_.wander);
}

AddResult ClockStrip::Lengthen(const Bar& bar) {
  const Bar newest = current_->newest;
  if (IsTooLong(newest, bar)) {
    EndSegment(bar);
  } else {
    // Nothing has changed, so that the strips may meet: there is no gap with the envelope alone.
    EndSegment(newest);
    current_->Add(bar);
  }
  NoteFit();
  return AddResult::kAfterLongestSegment;
}

AddResult ClockStrip::Refute(const Bar& bar) {
  ++counts_.refuted;
  current_->refuted = true;
  if (limits_.announces) unsound_ = true;
  EndSegment(bar);
  fits_in_a_row_ = 1;
  return AddResult::kAfterRefutation;
}

bool ClockStrip::IsTooLong(const Bar& first, const Bar& bar) const {
  return bar.range.low - first.range.low > options_.segment_max || bar.edge - first.edge > static_cast<uint64_t>(kXMax);
}

const ClockStrip::Segment* ClockStrip::SegmentAt(uint64_t edge) const {
  if (before_.has_value() && before_->Reaches(edge)) return &*before_;
  if (current_.has_value() && edge >= current_->first.edge) return &*current_;
  return nullptr;
}

ClockBound ClockStrip::BoundAt(uint64_t edge) const {
  if (edge < first_edge_) return {.range = {Instant::Earliest(), Instant::Latest()}};
  ClockBound bound{.range = envelope_.At(edge)};
  const Segment* segment = SegmentAt(edge);
  if (segment == nullptr) return bound;
  bound.fit = segment->FitAt(edge);
  if (!limits_.announces || segment->refuted || !segment->Reaches(edge) || !bound.fit.has_value()) return bound;
  const InstantRange both{std::max(bound.range.low, bound.fit->low), std::min(bound.range.high, bound.fit->high)};
  // A clock outside its limits may have a line that no envelope allows.
  if (both.low > both.high) return bound;
  bound.range = both;
  bound.kind = ClockBound::Kind::kStrip;
  return bound;
}

absl::StatusOr<EdgesWithin> ClockStrip::EdgesOf(Instant start, Instant end) const {
  if (end < start) return absl::InvalidArgumentError("the range ends before it starts");
  const auto surely_from = [&](Instant at) {
    return FirstLate(first_edge_, [&](uint64_t edge) { return BoundAt(edge).range.low >= at; });
  };
  const auto maybe_from = [&](Instant at) {
    return FirstLate(first_edge_, [&](uint64_t edge) { return BoundAt(edge).range.high >= at; });
  };
  EdgesWithin edges{.surely = {surely_from(start), maybe_from(end)}, .maybe = {maybe_from(start), surely_from(end)}};
  // Those before may be anywhere before the first one.
  if (edges.maybe.begin == first_edge_) edges.maybe.begin = 0;
  return edges;
}

std::optional<PeriodRange> ClockStrip::Period() const {
  return current_.has_value() ? current_->strip.Period() : std::nullopt;
}

std::optional<PeriodRange> ClockStrip::Drift() const {
  const auto now = Period();
  const auto before = before_.has_value() ? before_->strip.Period() : std::nullopt;
  if (!now.has_value() || !before.has_value()) return std::nullopt;
  return PeriodRange{now->low - before->high, now->high - before->low};
}

std::optional<uint64_t> ClockStrip::newest_edge() const {
  return current_.has_value() ? std::optional(current_->newest.edge) : std::nullopt;
}

absl::StatusOr<StripHulls> ClockStrip::Hulls() const {
  if (!current_.has_value()) return absl::FailedPreconditionError("no packets");
  const auto upper = current_->strip.upper().vertices(), lower = current_->strip.negated_lower().vertices();
  return StripHulls{.edge = current_->first.edge,
                    .origin = current_->first.range.low,
                    .first_high = static_cast<int64_t>(current_->first.range.width()),
                    .packets = current_->strip.bars(),
                    .newest_trigger = newest_trigger_,
                    .upper = {upper.begin(), upper.end()},
                    .negated_lower = {lower.begin(), lower.end()}};
}

absl::StatusOr<ClockStrip> ClockStrip::OfHulls(const ClockLimits& limits, Options options, const StripHulls& hulls) {
  SIDEBAND_ASSIGN_OR_RETURN(ClockStrip strip, Create(limits, options));
  SIDEBAND_RETURN_IF_ERROR(strip.TakeHulls(hulls));
  return strip;
}

absl::Status ClockStrip::TakeHulls(const StripHulls& hulls) {
  SIDEBAND_RETURN_IF_ERROR(CheckOrigin(hulls));
  SIDEBAND_ASSIGN_OR_RETURN(AffineStrip strip,
                            AffineStrip::OfHulls(limits_.wander, hulls.packets, hulls.upper, hulls.negated_lower));
  const Vertex& high = hulls.upper.back();
  if (static_cast<uint64_t>(high.x) > kEdgeMax - hulls.edge) {
    return absl::InvalidArgumentError("the edges are out of range");
  }
  const Bar first{hulls.edge, {hulls.origin, hulls.origin + hulls.first_high}};
  const Bar newest{hulls.edge + static_cast<uint64_t>(high.x),
                   {LowOf(hulls, hulls.negated_lower.back(), limits_.wander), HighOf(hulls, high, limits_.wander)}};
  if (newest.range.width() < 0 || newest.range.width() > kBarMax || newest.range.low < first.range.low ||
      IsTooLong(first, newest)) {
    return absl::InvalidArgumentError("the newest bar is out of range");
  }
  EndSegment(first);
  current_->strip = std::move(strip);
  current_->newest = newest;
  newest_trigger_ = hulls.newest_trigger;
  newest_reference_ = newest.range.low - limits_.bar_low;
  return AnchorHulls(hulls);
}

// A vertex is one end of a packet's bar. Of the other it is known that it is after what the envelope has, and before
// the newest packet.
absl::Status ClockStrip::AnchorHulls(const StripHulls& hulls) {
  bool fits = envelope_.Add(hulls.edge, current_->first.range);
  auto upper = hulls.upper.begin(), lower = hulls.negated_lower.begin();
  while (upper != hulls.upper.end() || lower != hulls.negated_lower.end()) {
    // Both hulls end at the same edge.
    const int64_t x = upper == hulls.upper.end()           ? lower->x
                      : lower == hulls.negated_lower.end() ? upper->x
                                                           : std::min(upper->x, lower->x);
    const uint64_t edge = hulls.edge + static_cast<uint64_t>(x);
    const InstantRange known = envelope_.At(edge);
    InstantRange bar{known.low, std::min(known.high, current_->newest.range.high)};
    if (upper != hulls.upper.end() && upper->x == x) bar.high = HighOf(hulls, *upper++, limits_.wander);
    if (lower != hulls.negated_lower.end() && lower->x == x) bar.low = LowOf(hulls, *lower++, limits_.wander);
    if (x > 0) fits = fits && bar.low <= bar.high && envelope_.Add(edge, bar);
  }
  return fits ? absl::OkStatus() : absl::InvalidArgumentError("the hulls are outside the limits of the clock");
}

size_t ClockStrip::heap_bytes() const {
  size_t bytes = envelope_.heap_bytes();
  for (const auto& segment : {&before_, &current_}) {
    if (!segment->has_value()) continue;
    bytes += (*segment)->strip.upper().heap_bytes() + (*segment)->strip.negated_lower().heap_bytes();
  }
  return bytes;
}

absl::Status AddInOrder(std::vector<ClockPacket> packets, ClockStrip& strip) {
  std::ranges::stable_sort(packets, {}, &ClockPacket::trigger);
  for (const ClockPacket& packet : packets) {
    if (const auto result = strip.Add(packet); !result.ok()) return result.status();
  }
  return absl::OkStatus();
}

}  // namespace sideband::clocks
