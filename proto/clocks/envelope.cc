// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/envelope.h"

#include <algorithm>
#include <iterator>

namespace sideband::clocks {
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

}  // namespace sideband::clocks
