// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/counts_within.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "proto/clocks/test_clock.h"

namespace sideband::clocks {
namespace {

constexpr EdgesWithin kEdges{.surely = {100, 200}, .maybe = {90, 210}};

TEST(CountsWithinTest, ArePacketsInsideAndPacketsThatTouch) {
  const struct {
    CountedEdges packet;
    CountBounds expected;
  } kRows[] = {
      {{100, 200, 5}, {5, 5}},  // all
      {{99, 200, 5}, {0, 5}},   // its first edge may be before
      {{100, 201, 5}, {0, 5}},  // its last edge may be after
      {{80, 90, 5}, {0, 0}},    // before
      {{80, 91, 5}, {0, 5}},    // its last edge may be within
      {{210, 220, 5}, {0, 0}},  // after
      {{209, 220, 5}, {0, 5}},  // its first edge may be within
      {{150, 150, 5}, {0, 0}},  // no edges
      {{160, 150, 5}, {0, 0}},  // reversed
  };
  for (const auto& row : kRows) EXPECT_EQ(CountsWithin(kEdges, {row.packet}), row.expected);
}

TEST(CountsWithinTest, SaturatesSums) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(CountsWithin(kEdges, {{100, 200, kMax}, {150, 160, 2}}), (CountBounds{kMax, kMax}));
}

TEST(CountsWithinTest, CountsNothingSurelyInAnEmptyRange) {
  EXPECT_EQ(CountsWithin({.surely = {200, 100}, .maybe = {90, 210}}, {{120, 130, 5}}), (CountBounds{0, 5}));
}

// An event of every third cycle, counted with a lag, at the edges of a drawn clock.
RC_GTEST_PROP(CountsWithinProperty, ContainTheTrueCount, ()) {
  const ClockCase drawn = DrawCase({.kind = static_cast<ClockKind>(*rc::gen::inRange(0, 4)), .packets = 50},
                                   *rc::gen::arbitrary<uint64_t>());
  auto strip = ClockStrip::Create(drawn.limits, {});
  RC_ASSERT(AddInOrder(drawn.packets, *strip).ok());
  const auto events_below = [](uint64_t edge) { return (edge + 2) / 3; };
  const uint64_t lag_max = 7;
  std::vector<CountedEdges> packets;
  uint64_t horizon = 0, reach = 0;
  for (const ClockPacket& packet : drawn.packets) {
    const uint64_t next =
        std::max(horizon, packet.edge - std::min(packet.edge, *rc::gen::inRange<uint64_t>(0, lag_max)));
    packets.push_back({reach, packet.edge, events_below(next) - events_below(horizon)});
    horizon = next;
    reach = packet.edge - std::min(packet.edge, lag_max);
  }
  const uint64_t last = drawn.packets.back().edge;
  const uint64_t a = *rc::gen::inRange<uint64_t>(0, last), b = *rc::gen::inRange<uint64_t>(0, last);
  const Instant start(drawn.clock.At(std::min(a, b)) / kSubticks), end(drawn.clock.At(std::max(a, b)) / kSubticks);
  const CountBounds bounds = CountsWithin(*strip->EdgesOf(start, end), packets);
  const auto below = [&](Instant at) {
    return events_below(std::min(horizon, drawn.clock.FirstEdgeFrom(at.ticks() * kSubticks)));
  };
  const uint64_t truth = below(end) - below(start);
  RC_ASSERT(bounds.lower <= truth);
  RC_ASSERT(truth <= bounds.upper);
}

}  // namespace
}  // namespace sideband::clocks
