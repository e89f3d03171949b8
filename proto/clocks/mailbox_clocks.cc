// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/mailbox_clocks.h"

#include <utility>
#include <vector>

namespace sideband::clocks {
namespace {

static_assert(mailbox::kInstantFractionBits == 16 && kTicksPerCycle == 1 << 16);
static_assert(mailbox::kHullVerticesMax == kVerticesMax);

constexpr uint64_t kNumbers = uint64_t{1} << 32;

std::vector<mailbox::HullVertex> VerticesOf(const StripHulls& hulls, const std::vector<Vertex>& chain, int sign) {
  std::vector<mailbox::HullVertex> vertices;
  for (const Vertex& vertex : chain) {
    vertices.push_back({hulls.edge + static_cast<uint64_t>(vertex.x), hulls.origin.ticks() + sign * Ticks(vertex.y)});
  }
  return vertices;
}

// False if a vertex is out of a segment's range.
bool ToChain(const mailbox::ClockHull& hull, const std::vector<mailbox::HullVertex>& vertices, int sign,
             std::vector<Vertex>& chain) {
  for (const mailbox::HullVertex& vertex : vertices) {
    const uint64_t x = vertex.edge - hull.start.edge;
    if (!Instant(vertex.instant).IsValid() || x > static_cast<uint64_t>(kXMax)) return false;
    const Ticks y = vertex.instant - hull.start.instant;
    if (y > kYMax || y < -kYMax) return false;
    chain.push_back({static_cast<int64_t>(x), sign * static_cast<int64_t>(y)});
  }
  return true;
}

}  // namespace

ClockLimits LimitsOf(const mailbox::ClockDomain& domain) {
  return {.period_shortest = domain.period_min,
          .period_longest = domain.period_max,
          .bar_low = domain.bar_low,
          .bar_high = domain.bar_high,
          .wander = domain.wander,
          .announces = domain.announces};
}

uint64_t PacketNumbers::Widen(uint32_t trigger_id) {
  const int64_t ahead = static_cast<int32_t>(trigger_id - static_cast<uint32_t>(newest_));
  if (ahead > 0) return newest_ += static_cast<uint64_t>(ahead);
  // Before 0 there is none: a device that says so has gone far ahead.
  const auto behind = static_cast<uint64_t>(-ahead);
  return behind > newest_ ? newest_ += kNumbers - behind : newest_ - behind;
}

bool PacketNumbers::HasChanged(uint32_t changes) {
  const std::optional<uint32_t> before = std::exchange(changes_, changes);
  return before && *before != changes;
}

ClockPacket PacketOf(const mailbox::ClockDomain& domain, const mailbox::TimelineEntry& entry,
                     const mailbox::TimelineClock& clock, PacketNumbers& numbers) {
  ClockPacket packet{.trigger = numbers.Widen(entry.trigger_id),
                     .reference = Instant::OfCycles(entry.reference_cycle),
                     .edge = clock.local_clock,
                     .changed = numbers.HasChanged(clock.changes)};
  if (domain.MayStop()) packet.arrival = Instant::OfCycles(clock.arrival);
  return packet;
}

ClockPacket PacketOf(const mailbox::ClockDomain& domain, const LatchInstant& latch,
                     const mailbox::ClockReading& reading, PacketNumbers& numbers) {
  ClockPacket packet{.trigger = numbers.Widen(latch.trigger_id),
                     .reference = Instant::OfCycles(latch.reference_cycle),
                     .edge = reading.local_clock,
                     .changed = numbers.HasChanged(reading.changes)};
  // Both are of the device, so that their sum may be anything.
  if (domain.MayStop()) packet.arrival = packet.reference + Ticks(reading.arrival) * kTicksPerCycle;
  return packet;
}

mailbox::ClockHull HullOf(const StripHulls& hulls) {
  return {.last_trigger_id = static_cast<uint32_t>(hulls.newest_trigger),
          .packets = hulls.packets,
          .start = {hulls.edge, hulls.origin.ticks()},
          .first_length = static_cast<uint64_t>(hulls.first_high),
          .lower = VerticesOf(hulls, hulls.negated_lower, -1),
          .upper = VerticesOf(hulls, hulls.upper, 1)};
}

std::optional<StripHulls> HullsOf(const mailbox::ClockHull& hull) {
  if (!Instant(hull.start.instant).IsValid() || hull.first_length > static_cast<uint64_t>(kYMax)) return std::nullopt;
  StripHulls hulls{.edge = hull.start.edge,
                   .origin = Instant(hull.start.instant),
                   .first_high = static_cast<int64_t>(hull.first_length),
                   .packets = hull.packets,
                   .newest_trigger = hull.last_trigger_id};
  const bool fits = ToChain(hull, hull.upper, 1, hulls.upper) && ToChain(hull, hull.lower, -1, hulls.negated_lower);
  return fits ? std::optional(std::move(hulls)) : std::nullopt;
}

}  // namespace sideband::clocks
