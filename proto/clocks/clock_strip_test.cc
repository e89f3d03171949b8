// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/clock_strip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
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

// The README's clock: 100 MHz within 1000 ppm, on an axis of nanoseconds; a trigger is sampled within 12 ns.
constexpr ClockLimits kLimits{.period_shortest = 9'990 * kTicksPerCycle / 1000,
                              .period_longest = 10'010 * kTicksPerCycle / 1000 + 1,
                              .bar_low = 0,
                              .bar_high = 12 * kTicksPerCycle,
                              .announces = true};

ClockStrip Empty(ClockLimits limits = kLimits, ClockStrip::Options options = {}) {
  return *ClockStrip::Create(limits, options);
}

ClockPacket Packet(uint64_t trigger, uint64_t ns, uint64_t edge) {
  return {.trigger = trigger, .reference = Instant::OfCycles(ns), .edge = edge};
}

AddResult Add(ClockStrip& strip, const ClockPacket& packet) {
  const auto result = strip.Add(packet);
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

// A packet each microsecond, from `first` on.
void AddSteady(ClockStrip& strip, uint64_t first, uint64_t packets) {
  for (uint64_t i = first; i < first + packets; ++i) {
    ASSERT_EQ(Add(strip, Packet(i, i * 1000, i * 100)), AddResult::kAdded) << i;
  }
}

// The clock has stepped by 0.1 % before packet `i`.
ClockPacket Stepped(uint64_t i, uint64_t since) { return Packet(i, i * 1000 + (i - since) - 1, i * 100); }

absl::StatusCode CodeOf(ClockStrip& strip, const ClockPacket& packet) { return strip.Add(packet).status().code(); }

InstantRange Nanoseconds(uint64_t low, uint64_t high) { return {Instant::OfCycles(low), Instant::OfCycles(high)}; }

TEST(ClockStripTest, TheExampleOfTheReadme) {
  ClockStrip strip = Empty();
  Add(strip, Packet(5, 501'200, 30'205));
  EXPECT_EQ(strip.BoundAt(30'205).range, Nanoseconds(501'200, 501'212));
  Add(strip, Packet(6, 502'203, 30'305));
  EXPECT_EQ(strip.BoundAt(30'305).kind, ClockBound::Kind::kStrip);
  EXPECT_EQ(strip.BoundAt(30'305).range.low, Instant::OfCycles(502'203));
  Add(strip, Packet(7, 503'200, 30'405));
  EXPECT_EQ(strip.BoundAt(30'305).range, Nanoseconds(502'203, 502'212));
  EXPECT_EQ(strip.BoundAt(30'305).range.middle(), Instant(Ticks(502'207) * kTicksPerCycle + kTicksPerCycle / 2));
  const Ticks unit = Ticks(kTicksPerCycle) << kPeriodFractionBits;
  EXPECT_EQ(strip.Period(), (PeriodRange{unit * 994 / 100, unit * 1006 / 100 + 1}));
}

TEST(ClockStripTest, WithoutPacketsNothingIsKnown) {
  const ClockStrip strip = Empty();
  EXPECT_FALSE(strip.BoundAt(7).range.IsBounded());
  EXPECT_EQ(strip.BoundAt(7).fit, std::nullopt);
  EXPECT_EQ(strip.newest_edge(), std::nullopt);
  EXPECT_EQ(strip.Period(), std::nullopt);
  EXPECT_EQ(strip.Hulls().status().code(), absl::StatusCode::kFailedPrecondition);
  const auto edges = strip.EdgesOf(Instant(0), Instant(100));
  ASSERT_TRUE(edges.ok());
  EXPECT_GE(edges->surely.begin, edges->surely.end);
}

TEST(ClockStripTest, BeyondTheNewestPacketTheFitIsNoClaim) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  const ClockBound inside = strip.BoundAt(500), beyond = strip.BoundAt(1100);
  EXPECT_EQ(inside.kind, ClockBound::Kind::kStrip);
  EXPECT_EQ(inside.fit, inside.range);
  EXPECT_EQ(beyond.kind, ClockBound::Kind::kEnvelope);
  ASSERT_TRUE(beyond.fit.has_value());
  EXPECT_GT(beyond.range.width(), 0);
}

TEST(ClockStripTest, ASilentClockHasTheEnvelopeAlone) {
  ClockLimits limits = kLimits;
  limits.announces = false;
  ClockStrip strip = Empty(limits);
  AddSteady(strip, 1, 10);
  EXPECT_EQ(strip.BoundAt(500).kind, ClockBound::Kind::kEnvelope);
  EXPECT_TRUE(strip.BoundAt(500).fit.has_value());
}

TEST(ClockStripTest, AnAnnouncedChangeBeginsASegment) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  ClockPacket changed = Packet(11, 11'000, 1100);
  changed.changed = true;
  EXPECT_EQ(Add(strip, changed), AddResult::kAfterChange);
  AddSteady(strip, 12, 5);
  EXPECT_EQ(strip.BoundAt(1000).kind, ClockBound::Kind::kStrip);  // the segment before is kept
  EXPECT_EQ(strip.BoundAt(1050).kind, ClockBound::Kind::kEnvelope);
  EXPECT_EQ(strip.BoundAt(1050).fit, std::nullopt);
  EXPECT_EQ(strip.BoundAt(1100).kind, ClockBound::Kind::kStrip);
  EXPECT_EQ(strip.counts().segments, 2u);
  ASSERT_TRUE(strip.Drift().has_value());
  EXPECT_LT(strip.Drift()->low, 0);
  EXPECT_GT(strip.Drift()->high, 0);
}

TEST(ClockStripTest, AChangeOfAPacketThatWasNotUsedIsNotForgotten) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 5);
  ClockPacket outside = Packet(6, 9'000, 600);
  outside.changed = true;
  EXPECT_EQ(Add(strip, outside), AddResult::kOutside);
  EXPECT_EQ(Add(strip, Packet(7, 7'000, 700)), AddResult::kAfterChange);
}

TEST(ClockStripTest, SegmentsOfGreatestLengthMeet) {
  ClockStrip strip = Empty(kLimits, {.segment_max = Ticks(10'000) * kTicksPerCycle});
  AddSteady(strip, 1, 11);
  EXPECT_EQ(Add(strip, Packet(12, 12'000, 1200)), AddResult::kAfterLongestSegment);
  for (uint64_t edge = 100; edge <= 1200; edge += 10) EXPECT_EQ(strip.BoundAt(edge).kind, ClockBound::Kind::kStrip);
  // A packet that alone is too late for a segment has one of its own.
  EXPECT_EQ(Add(strip, Packet(13, 30'000, 3000)), AddResult::kAfterLongestSegment);
  EXPECT_EQ(strip.BoundAt(2000).kind, ClockBound::Kind::kEnvelope);
}

TEST(ClockStripTest, ARefutedSegmentOfAnAnnouncingClockIsADefect) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 50);
  AddResult result = AddResult::kAdded;
  uint64_t i = 51;
  for (; result == AddResult::kAdded; ++i) result = Add(strip, Stepped(i, 50));
  EXPECT_EQ(result, AddResult::kAfterRefutation);
  EXPECT_TRUE(strip.unsound());
  EXPECT_EQ(strip.BoundAt(2500).kind, ClockBound::Kind::kEnvelope);
  EXPECT_EQ(strip.counts(), (ClockStripCounts{.segments = 2, .refuted = 1}));
  Add(strip, Stepped(i, 50));
  EXPECT_TRUE(strip.unsound());
  Add(strip, Stepped(i + 1, 50));
  EXPECT_FALSE(strip.unsound());  // the next segment holds
}

TEST(ClockStripTest, TwoPacketsOutsideAskForResynchronisation) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  EXPECT_EQ(Add(strip, Packet(11, 21'000, 1100)), AddResult::kOutside);
  EXPECT_EQ(Add(strip, Packet(12, 12'000, 1200)), AddResult::kAdded);  // the count begins again
  EXPECT_EQ(Add(strip, Packet(13, 23'000, 1300)), AddResult::kOutside);
  EXPECT_EQ(Add(strip, Packet(14, 24'000, 1400)), AddResult::kResynchronise);
  EXPECT_EQ(Add(strip, Packet(15, 15'000, 1500)), AddResult::kAfterRestart);
  EXPECT_FALSE(strip.unsound());  // it is where it was expected
  EXPECT_TRUE(strip.BoundAt(500).range.IsBounded());
  EXPECT_EQ(strip.counts(), (ClockStripCounts{.segments = 2, .outside = 3, .resynchronised = 1}));
}

TEST(ClockStripTest, AClockThatLeftItsLimitsIsUnsoundAndItsPastForgotten) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  for (uint64_t i = 11; i < 13; ++i) Add(strip, Packet(i, i * 1000 + 10'000, i * 100));
  EXPECT_EQ(Add(strip, Packet(13, 23'000, 1300)), AddResult::kAfterRestart);
  EXPECT_TRUE(strip.unsound());
  EXPECT_FALSE(strip.BoundAt(500).range.IsBounded());
  EXPECT_FALSE(strip.BoundAt(1299).range.IsBounded());
  EXPECT_TRUE(strip.BoundAt(1300).range.IsBounded());
  for (uint64_t i = 14; i < 16; ++i) Add(strip, Packet(i, i * 1000 + 10'000, i * 100));
  EXPECT_FALSE(strip.unsound());
}

TEST(ClockStripTest, PacketsThatAreFarApartCanEndADefectToo) {
  ClockStrip strip = Empty(kLimits, {.segment_max = Ticks(1500) * kTicksPerCycle});
  for (uint64_t i = 1; i < 10; ++i) Add(strip, Packet(i, i * 1000, i * 100));
  for (uint64_t i = 10; i < 13; ++i) Add(strip, Packet(i, i * 1000 + 10'000, i * 100));
  EXPECT_TRUE(strip.unsound());
  EXPECT_EQ(Add(strip, Packet(13, 23'000, 1300)), AddResult::kAdded);
  EXPECT_EQ(Add(strip, Packet(14, 24'000, 1400)), AddResult::kAfterLongestSegment);
  EXPECT_FALSE(strip.unsound());
}

TEST(ClockStripTest, RestartForgetsWithoutADefect) {
  ClockStrip strip = Empty();
  AddSteady(strip, 10, 10);
  strip.Restart();
  EXPECT_EQ(Add(strip, Packet(1, 1'000, 100)), AddResult::kAfterRestart);  // numbers begin again, too
  EXPECT_FALSE(strip.unsound());
  EXPECT_FALSE(strip.BoundAt(99).range.IsBounded());
  AddSteady(strip, 2, 5);
}

TEST(ClockStripTest, HostilePacketsChangeNothing) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  const auto hulls = strip.Hulls();
  EXPECT_EQ(CodeOf(strip, Packet(11, 11'000, 1000)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(strip, Packet(11, 11'000, 999)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(strip, Packet(10, 11'000, 1100)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(strip, Packet(11, 9'999, 1100)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(strip, {.trigger = 11, .reference = Instant(kInstantLimit), .edge = 1100}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Add(strip, Packet(11, 11'000, ~uint64_t{0})), AddResult::kOutside);
  EXPECT_EQ(*strip.Hulls(), *hulls);
  EXPECT_EQ(Add(strip, Packet(11, 11'000, 1100)), AddResult::kAdded);
}

TEST(ClockStripTest, ASegmentMaxMustBeInRange) {
  EXPECT_FALSE(ClockStrip::Create(kLimits, {.segment_max = 0}).ok());
  EXPECT_TRUE(ClockStrip::Create(kLimits, {.segment_max = 1}).ok());
  EXPECT_TRUE(ClockStrip::Create(kLimits, {.segment_max = kYMax / 4}).ok());
  EXPECT_FALSE(ClockStrip::Create(kLimits, {.segment_max = kYMax / 4 + 1}).ok());
  EXPECT_FALSE(ClockStrip::Create({}, {}).ok());
}

TEST(ClockStripTest, TheEdgesOfARange) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  // Edge k is within 12 ns after 10 k.
  const auto edges = strip.EdgesOf(Instant::OfCycles(3'000), Instant::OfCycles(5'000));
  ASSERT_TRUE(edges.ok());
  EXPECT_EQ(edges->surely, (EdgesWithin::Range{300, 499}));
  EXPECT_EQ(edges->maybe, (EdgesWithin::Range{299, 500}));
  EXPECT_FALSE(strip.EdgesOf(Instant(1), Instant(0)).ok());
}

// A device's clock on the host's: x is the device's reference cycles at 1 GHz, the bar an exchange of about 200 us on
// the host's clock in nanoseconds, and both are steady within 200 ppm.
TEST(ClockStripTest, FitsADeviceToItsHost) {
  const ClockLimits limits{.period_shortest = 65'522, .period_longest = 65'550, .wander = 3277, .announces = true};
  ClockStrip strip = Empty(limits);
  for (uint64_t i = 1; i <= 100; ++i) {
    const uint64_t cycle = i * 1'000'000, ns = cycle + cycle / 10'000;  // 100 ppm
    const uint64_t before = ns - 100'000 - i * 7919 % 90'000, after = ns + 5'000 + i * 104'729 % 90'000;
    ClockPacket packet = Packet(i, before, cycle);
    packet.arrival = Instant::OfCycles(after);
    ASSERT_EQ(Add(strip, packet), AddResult::kAdded);
  }
  const InstantRange newest = strip.BoundAt(100'000'000).range;
  EXPECT_LT(newest.low, Instant::OfCycles(100'010'000));
  EXPECT_GT(newest.high, Instant::OfCycles(100'010'000));
  EXPECT_LT(newest.width(), Ticks(200'000) * kTicksPerCycle);
}

TEST(ClockStripTest, HostileHullsAreRefused) {
  ClockStrip strip = Empty();
  AddSteady(strip, 1, 10);
  const StripHulls good = *strip.Hulls();
  ASSERT_TRUE(ClockStrip::OfHulls(kLimits, {}, good).ok());
  const auto expect_refused = [&](auto change) {
    StripHulls bad = good;
    change(bad);
    EXPECT_EQ(ClockStrip::OfHulls(kLimits, {}, bad).status().code(), absl::StatusCode::kInvalidArgument);
  };
  expect_refused([](StripHulls& hulls) { hulls.origin = Instant(kInstantLimit + kBarMax + 1); });
  expect_refused([](StripHulls& hulls) { hulls.edge = ~uint64_t{0} - 899; });
  expect_refused([](StripHulls& hulls) { hulls.first_high = -1; });
  expect_refused([](StripHulls& hulls) { hulls.packets = 1; });
  expect_refused([](StripHulls& hulls) { hulls.upper.clear(); });
  expect_refused([](StripHulls& hulls) { hulls.upper.back().y = -hulls.negated_lower.back().y - 1; });
  // Within a line, but of a clock twice as fast as its limits.
  expect_refused([](StripHulls& hulls) {
    for (auto* hull : {&hulls.upper, &hulls.negated_lower}) {
      for (Vertex& vertex : *hull) vertex.x *= 2;
    }
  });
}

TEST(ClockStripTest, AddInOrderStopsAtAnError) {
  ClockStrip strip = Empty();
  EXPECT_TRUE(AddInOrder({Packet(2, 2'000, 200), Packet(1, 1'000, 100)}, strip).ok());
  EXPECT_EQ(strip.newest_edge(), 200u);
  EXPECT_EQ(AddInOrder({Packet(2, 2'000, 200)}, strip).code(), absl::StatusCode::kDataLoss);
}

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
