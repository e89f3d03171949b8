// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/envelope.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/clocks/test_clock.h"

namespace sideband::clocks {
namespace {

using Bars = std::vector<std::pair<uint64_t, InstantRange>>;

Bars BarsOf(const ClockCase& drawn) {
  Bars bars;
  for (const ClockPacket& packet : drawn.packets) bars.emplace_back(packet.edge, *clocks::BarOf(packet, drawn.limits));
  return bars;
}

// The formulas of clocks.md, over all packets.
InstantRange OverAll(const Bars& bars, const ClockLimits& limits, uint64_t edge) {
  InstantRange range{Instant::Earliest(), Instant::Latest()};
  for (const auto& [x, bar] : bars) {
    const Ticks shortest = (Ticks(edge) - x) * limits.period_shortest;
    const Ticks longest = (Ticks(edge) - x) * limits.period_longest;
    const bool stops = limits.period_longest == 0;
    if (edge >= x) range.low = std::max(range.low, bar.low + shortest);
    if (edge >= x && (edge == x || !stops)) range.high = std::min(range.high, bar.high + longest);
    if (edge <= x && (edge == x || !stops)) range.low = std::max(range.low, bar.low + longest);
    if (edge <= x) range.high = std::min(range.high, bar.high + shortest);
  }
  return range;
}

RC_GTEST_PROP(EnvelopeProperty, NearestPacketsSuffice, ()) {
  const ClockCase drawn = DrawCase(
      {.kind = static_cast<ClockKind>(*rc::gen::inRange(0, 4)), .packets = *rc::gen::inRange<int>(1, kAnchorsMax + 1)},
      *rc::gen::arbitrary<uint64_t>());
  Envelope envelope(drawn.limits.period_shortest, drawn.limits.period_longest);
  const Bars bars = BarsOf(drawn);
  for (const auto& [edge, bar] : bars) RC_ASSERT(envelope.Add(edge, bar));
  for (int i = 0; i < 100; ++i) {
    const uint64_t edge = *rc::gen::inRange<uint64_t>(0, drawn.packets.back().edge + 100);
    // Beyond the ends of a clock that may stop one side is open, which a stopped clock's own edge is not.
    RC_ASSERT(envelope.At(edge) == OverAll(bars, drawn.limits, edge));
  }
  for (const auto& [edge, bar] : bars) RC_ASSERT(envelope.At(edge) == OverAll(bars, drawn.limits, edge));
}

TEST(EnvelopeTest, KeepsTheNewestAndThinsTheOld) {
  Envelope envelope(990, 1010);
  Bars bars;
  for (uint64_t i = 0; i < 100'000; ++i) {
    const Instant at(Ticks(i) * 100 * 1000);
    bars.emplace_back(i * 100, InstantRange{at, at + 5000});
    ASSERT_TRUE(envelope.Add(bars.back().first, bars.back().second));
    ASSERT_LE(envelope.anchors(), kAnchorsMax);
  }
  const ClockLimits limits{.period_shortest = 990, .period_longest = 1010};
  const Bars newest(bars.end() - kAnchorsExact, bars.end());
  for (uint64_t edge = newest.front().first; edge < newest.back().first; edge += 33) {
    EXPECT_EQ(envelope.At(edge), OverAll(newest, limits, edge));
  }
  // An edge of a given age is between anchors that are not much further apart.
  for (uint64_t age = 100; age < 100'000; age *= 2) {
    const InstantRange range = envelope.At(bars.back().first - age * 100);
    EXPECT_LE(range.width(), 10'000 + Ticks(age) * 100 * 20) << age;
    EXPECT_LE(range.low, Instant(Ticks(bars.back().first - age * 100) * 1000 + 5000));
  }
}

TEST(EnvelopeTest, RefusesWhatNoClockWithinTheLimitsDoes) {
  Envelope envelope(10, 20);
  EXPECT_FALSE(envelope.At(5).IsBounded());
  ASSERT_TRUE(envelope.Add(100, {Instant(1000), Instant(1010)}));
  EXPECT_FALSE(envelope.Add(110, {Instant(1050), Instant(1099)}));  // too soon
  EXPECT_FALSE(envelope.Add(110, {Instant(1211), Instant(1220)}));  // too late
  EXPECT_TRUE(envelope.Add(110, {Instant(1210), Instant(1220)}));
  EXPECT_EQ(envelope.At(110), (InstantRange{Instant(1210), Instant(1210)}));
  EXPECT_EQ(envelope.At(100), (InstantRange{Instant(1010), Instant(1010)}));  // tightened backward
}

TEST(EnvelopeTest, SurvivesFarInstantsAndEdges) {
  Envelope envelope(1, kPeriodMax);
  ASSERT_TRUE(envelope.Add(0, {Instant(-(kInstantLimit - 1)), Instant(-(kInstantLimit - 1))}));
  const Instant far(kInstantLimit - 1 - (Ticks(1) << 40));
  ASSERT_TRUE(envelope.Add(uint64_t{1} << 60, {far, far + 7}));
  ASSERT_TRUE(envelope.Add(~uint64_t{0}, {far + (Ticks(1) << 66), far + (Ticks(1) << 66)}));
  EXPECT_TRUE(envelope.At(~uint64_t{0} - 1).IsBounded());
  EXPECT_TRUE(envelope.At(0).IsBounded());
}

}  // namespace
}  // namespace sideband::clocks
