// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/clock_strip.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"

namespace sideband::clocks {
namespace {

// Anchors further from the origin move it; those that are then further than twice that are dropped.
constexpr Ticks kOriginReach = Ticks(1) << 61;

InstantRange Both(const InstantRange& a, const InstantRange& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// The fewest packets that could refute a line.
constexpr uint64_t kHolds = 3;
// The vertices of an ended segment.
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

bool IsInside(const EdgesWithin::Range& outer, const CountedEdges& packet) {
  return outer.begin <= packet.begin && packet.end <= outer.end;
}

bool Touches(const EdgesWithin::Range& outer, const CountedEdges& packet) {
  return packet.begin < outer.end && outer.begin < packet.end;
}

uint64_t SaturatedSum(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max() : a + b;
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

// Drops all that is known: it contradicts the packet, or is of another time.
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
  // Edges before the first one may be anywhere before it.
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

CountBounds CountsWithin(const EdgesWithin& edges, const std::vector<CountedEdges>& packets) {
  CountBounds bounds;
  for (const CountedEdges& packet : packets) {
    if (packet.begin >= packet.end) continue;
    if (IsInside(edges.surely, packet)) bounds.lower = SaturatedSum(bounds.lower, packet.count);
    if (Touches(edges.maybe, packet)) bounds.upper = SaturatedSum(bounds.upper, packet.count);
  }
  return bounds;
}

}  // namespace sideband::clocks
