// SPDX-License-Identifier: Apache-2.0
//
// Laws 3 to 6 of clocks.md, section 7, on drawn clocks.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "proto/clocks/clock_strip.h"
#include "proto/clocks/test_clock.h"

namespace sideband::clocks {
namespace {

constexpr ClockKind kKinds[] = {ClockKind::kSteady, ClockKind::kStepsAnnounced, ClockKind::kStepsSilent,
                                ClockKind::kStopsAnnounced};

ClockCase AnyCase(int packets_max) {
  return DrawCase({.kind = *rc::gen::elementOf(std::vector<ClockKind>(std::begin(kKinds), std::end(kKinds))),
                   .packets = *rc::gen::inRange(1, packets_max),
                   .lost_percent = *rc::gen::element(0, 10, 80)},
                  *rc::gen::arbitrary<uint64_t>());
}

ClockStrip Empty(const ClockCase& drawn, ClockStrip::Options options = {}) {
  auto strip = ClockStrip::Create(drawn.limits, options);
  RC_ASSERT(strip.ok());
  return *std::move(strip);
}

AddResult Added(ClockStrip& strip, const ClockPacket& packet) {
  const auto result = strip.Add(packet);
  RC_ASSERT(result.ok());
  // No clock of these is outside its limits.
  RC_ASSERT(*result != AddResult::kOutside && *result != AddResult::kResynchronise);
  return *result;
}

ClockStrip Filled(const ClockCase& drawn, ClockStrip::Options options = {}) {
  ClockStrip strip = Empty(drawn, options);
  for (const ClockPacket& packet : drawn.packets) Added(strip, packet);
  return strip;
}

// Edges of and around the packets.
uint64_t AnyEdge(const ClockCase& drawn, std::mt19937_64& draws) {
  const uint64_t first = drawn.packets.front().edge, last = drawn.packets.back().edge, reach = (last - first) / 8 + 10;
  return std::max(first, reach) - reach + draws() % (last - first + 2 * reach);
}

bool Holds(const ClockStrip& strip, const ClockCase& drawn, uint64_t edge) {
  return Contains(strip.BoundAt(edge).range, drawn.clock.At(edge));
}

// Both ends of a segment of a clock that is steady are not further apart than this.
ClockStrip::Options AnySegments(const ClockCase& drawn) {
  const Ticks all = drawn.packets.back().reference - drawn.packets.front().reference;
  return {.segment_max = all / *rc::gen::element(1, 3, 10) + 1};
}

RC_GTEST_PROP(Law3Containment, OfEveryEdgeAfterEveryPacket, ()) {
  const ClockCase drawn = AnyCase(150);
  ClockStrip strip = Empty(drawn, AnySegments(drawn));
  std::mt19937_64 draws(1);
  for (const ClockPacket& packet : drawn.packets) {
    Added(strip, packet);
    for (int i = 0; i < 10; ++i) RC_ASSERT(Holds(strip, drawn, AnyEdge(drawn, draws)));
    for (const int64_t distance : {-1, 0, 1})
      RC_ASSERT(Holds(strip, drawn, packet.edge + distance + (packet.edge == 0)));
  }
  RC_ASSERT(!strip.unsound());
  RC_ASSERT(sizeof(strip) + strip.heap_bytes() <= 4096u);
}

RC_GTEST_PROP(Law3Containment, OfTheEdgesOfARange, ()) {
  const ClockCase drawn = AnyCase(100);
  const ClockStrip strip = Filled(drawn);
  std::mt19937_64 draws(2);
  for (int i = 0; i < 5; ++i) {
    const uint64_t a = AnyEdge(drawn, draws), b = AnyEdge(drawn, draws);
    const Instant start(drawn.clock.At(std::min(a, b)) / kSubticks), end(drawn.clock.At(std::max(a, b)) / kSubticks);
    const auto edges = strip.EdgesOf(start, end);
    RC_ASSERT(edges.ok());
    const uint64_t true_begin = drawn.clock.FirstEdgeFrom(start.ticks() * kSubticks);
    const uint64_t true_end = drawn.clock.FirstEdgeFrom(end.ticks() * kSubticks);
    RC_ASSERT(edges->maybe.begin <= true_begin && true_begin <= edges->surely.begin);
    RC_ASSERT(edges->surely.end <= true_end && true_end <= edges->maybe.end);
  }
}

// Few packets, since an envelope that is full forgets.
RC_GTEST_PROP(Law4Narrowing, AFurtherPacketNeverWidens, ()) {
  const ClockCase drawn = AnyCase(kAnchorsMax);
  ClockStrip strip = Empty(drawn);
  std::mt19937_64 draws(3);
  std::map<uint64_t, InstantRange> bounds, fits;
  for (const ClockPacket& packet : drawn.packets) {
    if (Added(strip, packet) != AddResult::kAdded) {
      bounds.clear();
      fits.clear();
    }
    for (int i = 0; i < 3; ++i)
      bounds.try_emplace(std::max(packet.edge, AnyEdge(drawn, draws)),
                         InstantRange{Instant::Earliest(), Instant::Latest()});
    for (auto& [edge, range] : bounds) {
      const ClockBound bound = strip.BoundAt(edge);
      RC_ASSERT(range.low <= bound.range.low && bound.range.high <= range.high);
      range = bound.range;
      if (!bound.fit.has_value()) continue;
      const auto [fit, is_new] = fits.try_emplace(edge, *bound.fit);
      RC_ASSERT(fit->second.low <= bound.fit->low && bound.fit->high <= fit->second.high);
      fit->second = *bound.fit;
    }
  }
}

RC_GTEST_PROP(Law5Refutation, NeverOfAnAffineClock, ()) {
  const ClockCase drawn = DrawCase({.packets = *rc::gen::inRange(1, 1000)}, *rc::gen::arbitrary<uint64_t>());
  ClockStrip strip = Empty(drawn);
  for (const ClockPacket& packet : drawn.packets) RC_ASSERT(Added(strip, packet) == AddResult::kAdded);
  RC_ASSERT(strip.counts() == ClockStripCounts{.segments = 1});
}

// Three packets of a segment, the middle one's instant at most this far from the chord of the others.
RC_GTEST_PROP(Law5Refutation, AlwaysOfAMiddleOffTheChord, ()) {
  const ClockCase drawn =
      DrawCase({.kind = ClockKind::kStepsSilent, .packets = *rc::gen::inRange(3, 60)}, *rc::gen::arbitrary<uint64_t>());
  ClockStrip strip = Empty(drawn);
  const Subticks reach =
      Subticks(2) * (drawn.limits.bar_high - drawn.limits.bar_low + 2 * Ticks(drawn.limits.wander)) * kSubticks;
  std::vector<uint64_t> segment;
  for (const ClockPacket& packet : drawn.packets) {
    if (Added(strip, packet) != AddResult::kAdded) segment.clear();
    const Subticks start = segment.empty() ? 0 : drawn.clock.At(segment.front());
    for (const uint64_t middle : segment) {
      const Subticks run = packet.edge - segment.front();
      const Subticks off =
          (drawn.clock.At(middle) - start) * run - (drawn.clock.At(packet.edge) - start) * (middle - segment.front());
      RC_ASSERT(off <= reach * run && off >= -reach * run);
    }
    segment.push_back(packet.edge);
  }
}

RC_GTEST_PROP(Law6Order, OfPacketsInMemoryDoesNotMatter, ()) {
  ClockCase drawn = AnyCase(300);
  const ClockStrip expected = Filled(drawn);
  std::mt19937_64 draws(*rc::gen::arbitrary<uint32_t>());
  std::shuffle(drawn.packets.begin(), drawn.packets.end(), draws);
  ClockStrip strip = Empty(drawn);
  RC_ASSERT(AddInOrder(drawn.packets, strip).ok());
  std::ranges::sort(drawn.packets, {}, &ClockPacket::edge);
  RC_ASSERT(*strip.Hulls() == *expected.Hulls());
  for (int i = 0; i < 50; ++i) {
    const uint64_t edge = AnyEdge(drawn, draws);
    RC_ASSERT(strip.BoundAt(edge) == expected.BoundAt(edge));
  }
}

RC_GTEST_PROP(Law6Hulls, GiveTheBitsOfAllPackets, ()) {
  const ClockCase drawn = AnyCase(300);
  const size_t more = drawn.packets.size() / 3;
  ClockStrip all = Empty(drawn);
  for (size_t i = 0; i + more < drawn.packets.size(); ++i) Added(all, drawn.packets[i]);
  auto strip = ClockStrip::OfHulls(drawn.limits, {}, *all.Hulls());
  RC_ASSERT(strip.ok());
  std::mt19937_64 draws(4);
  const uint64_t first = all.Hulls()->edge;
  for (size_t i = drawn.packets.size() - more;; ++i) {
    RC_ASSERT(strip->Hulls() == all.Hulls());
    RC_ASSERT(strip->Period() == all.Period());
    for (int j = 0; j < 10; ++j) {
      const uint64_t edge = std::max(first, AnyEdge(drawn, draws));
      const ClockBound bound = strip->BoundAt(edge), expected = all.BoundAt(edge);
      RC_ASSERT(bound.fit == expected.fit);
      RC_ASSERT(bound.kind == expected.kind);
      RC_ASSERT(Contains(bound.range, drawn.clock.At(edge)));
    }
    if (i == drawn.packets.size()) break;
    RC_ASSERT(Added(all, drawn.packets[i]) == Added(*strip, drawn.packets[i]));
    if (all.Hulls()->edge != first) break;  // later ones no longer depend on the hulls
  }
}

// Law 3 at length.
constexpr int kCases = 2000, kPackets = 200, kChecksPerPacket = 25;

// The number of edges whose instant is outside its bound, after each packet.
int Outside(const ClockCase& drawn, std::mt19937_64& draws) {
  auto strip = ClockStrip::Create(drawn.limits, {});
  if (!strip.ok()) return 1;
  const uint64_t span = drawn.packets.back().edge + 1000;
  int outside = 0;
  for (const ClockPacket& packet : drawn.packets) {
    outside += strip->Add(packet).ok() ? 0 : 1;
    for (int i = 0; i < kChecksPerPacket; ++i) {
      const uint64_t edge = draws() % span;
      outside += Contains(strip->BoundAt(edge).range, drawn.clock.At(edge)) ? 0 : 1;
    }
  }
  return outside;
}

TEST(ContainmentTest, OfTenMillionEdges) {
  static_assert(kCases * kPackets * kChecksPerPacket == 10'000'000);
  std::mt19937_64 draws(1);
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    const CaseOptions options{
        .kind = static_cast<ClockKind>(seed % 4), .packets = kPackets, .lost_percent = seed % 3 == 0 ? 50 : 0};
    ASSERT_EQ(Outside(DrawCase(options, seed), draws), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sideband::clocks
