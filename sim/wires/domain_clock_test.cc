// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/domain_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sideband::sim {
namespace {

DomainClock Make(const DomainClockSpec& spec) { return *DomainClock::Create(spec); }

uint64_t EdgesUntilCycle(const DomainClock& clock, uint64_t cycle) {
  return clock.EdgesBefore(InstantAtCycle(cycle) + 1);
}

TEST(DomainClockTest, EdgesOfAClockLikeTheReferenceAreItsEdges) {
  const DomainClock clock = Make({});
  for (const uint64_t cycle : {0ull, 1ull, 2ull, 1'000'000'007ull, (1ull << 63) - 1}) {
    EXPECT_EQ(EdgesUntilCycle(clock, cycle), cycle);
    EXPECT_EQ(clock.InstantOf(cycle), InstantAtCycle(cycle + 1));
  }
}

TEST(DomainClockTest, RatiosAreExact) {
  const DomainClock clock = Make({.hz = 1'500'000'000});
  // Edges at 2/3, 4/3, 2, … reference cycles, in the first unit of 2^-16 at or after them.
  EXPECT_EQ(clock.InstantOf(0), 43'691);
  EXPECT_EQ(clock.InstantOf(1), 87'382);
  EXPECT_EQ(clock.InstantOf(2), InstantAtCycle(2));
  EXPECT_EQ(EdgesUntilCycle(clock, 1), 1u);
  EXPECT_EQ(EdgesUntilCycle(clock, 2), 3u);
  const uint64_t year = 31'557'600'000'000'000;  // in cycles
  EXPECT_EQ(EdgesUntilCycle(clock, year), year / 2 * 3);
}

TEST(DomainClockTest, OffsetIsInPartsPerBillion) {
  const DomainClock clock = Make({.offset_ppb = 37'000, .tolerance_ppb = 50'000});
  EXPECT_EQ(EdgesUntilCycle(clock, 1'000'000'000), 1'000'037'000u);
}

TEST(DomainClockTest, InitialPhaseBringsTheFirstEdgeForward) {
  EXPECT_EQ(Make({.hz = 500'000'000, .phase = 1u << 31}).InstantOf(0), InstantAtCycle(1));
}

TEST(DomainClockTest, AStepKeepsThePhase) {
  const DomainClock clock = Make({.hz = 500'000'000, .steps = {{InstantAtCycle(5), 1'000'000'000}}});
  // Half of edge 2's period has passed at the step, and the other half takes half a reference cycle.
  EXPECT_EQ(clock.InstantOf(1), InstantAtCycle(4));
  EXPECT_EQ(clock.InstantOf(2), InstantAtCycle(5) + 32'768);
  EXPECT_EQ(clock.InstantOf(3), InstantAtCycle(6) + 32'768);
}

TEST(DomainClockTest, AGateStopsTheClockAndKeepsThePhase) {
  const DomainClock clock = Make({.hz = 500'000'000, .gates = {{InstantAtCycle(3), InstantAtCycle(103)}}});
  EXPECT_EQ(clock.InstantOf(0), InstantAtCycle(2));
  EXPECT_EQ(clock.InstantOf(1), InstantAtCycle(104));
  EXPECT_EQ(clock.EdgesBefore(InstantAtCycle(104)), 1u);
  EXPECT_EQ(clock.EdgesBefore(InstantAtCycle(104) + 1), 2u);
}

TEST(DomainClockTest, TellsOfStepsAndGates) {
  const DomainClock clock =
      Make({.steps = {{InstantAtCycle(10), 2'000'000'000}}, .gates = {{InstantAtCycle(20), InstantAtCycle(30)}}});
  EXPECT_FALSE(clock.ChangedBetween(0, InstantAtCycle(10) - 1));
  EXPECT_TRUE(clock.ChangedBetween(0, InstantAtCycle(10)));
  EXPECT_FALSE(clock.ChangedBetween(InstantAtCycle(10), InstantAtCycle(20) - 1));
  EXPECT_TRUE(clock.ChangedBetween(InstantAtCycle(29), InstantAtCycle(30)));
  EXPECT_FALSE(clock.ChangedBetween(InstantAtCycle(30), InstantAtCycle(1'000'000)));
}

TEST(DomainClockTest, LimitsFollowFromTheSpecification) {
  EXPECT_EQ(Make({}).limits(), (ClockLimits{.shortest = 65'536, .longest = 65'536}));
  EXPECT_EQ(Make({.hz = 500'000'000, .tolerance_ppb = 1'000'000}).limits(),
            (ClockLimits{.shortest = 130'941, .longest = 131'204}));
  EXPECT_EQ(Make({.steps = {{InstantAtCycle(9), 500'000'000}}, .announces = false}).limits(),
            (ClockLimits{.shortest = 65'536, .longest = 131'072, .announces = false}));
  EXPECT_EQ(Make({.gates = {{InstantAtCycle(9), InstantAtCycle(10)}}}).limits().longest, 0u);
  EXPECT_TRUE(Make({.announces = false}).limits().announces) << "a clock that never changes";
}

TEST(DomainClockTest, SteppingAsItRunsIsSteppingAsPlanned) {
  const DomainClockSpec levels = {.hz = 900'000'000,
                                  .offset_ppb = 700,
                                  .tolerance_ppb = 700,
                                  .wander_ppb_per_s = 90,
                                  .seed = 5,
                                  .levels = {500'000'000, 333'333'333}};
  DomainClockSpec planned = levels;
  planned.levels.clear();
  planned.steps = {{InstantAtCycle(1000) + 7, 333'333'333}, {InstantAtCycle(5000), 900'000'000}};
  DomainClock clock = Make(levels);
  for (const ClockStep& step : planned.steps) clock.Step(step.at, step.hz);
  const DomainClock expected = Make(planned);
  for (uint64_t cycle = 0; cycle < 10'000; cycle += 13) {
    ASSERT_EQ(EdgesUntilCycle(clock, cycle), EdgesUntilCycle(expected, cycle)) << cycle;
  }
  for (uint64_t edge = 0; edge < 5000; edge += 7) ASSERT_EQ(clock.InstantOf(edge), expected.InstantOf(edge)) << edge;
  EXPECT_TRUE(clock.ChangedBetween(InstantAtCycle(4000), InstantAtCycle(5000)));
  EXPECT_EQ(clock.last_change(), InstantAtCycle(5000));
}

TEST(DomainClockTest, AStepLeavesWhatWasBeforeIt) {
  const DomainClock before = Make({.hz = 900'000'000, .levels = {500'000'000}});
  DomainClock after = before;
  after.Step(InstantAtCycle(1000), 500'000'000);
  for (uint64_t cycle = 0; cycle <= 1000; ++cycle) {
    ASSERT_EQ(EdgesUntilCycle(after, cycle), EdgesUntilCycle(before, cycle)) << cycle;
  }
  EXPECT_LT(EdgesUntilCycle(after, 1010), EdgesUntilCycle(before, 1010));
}

TEST(DomainClockTest, LimitsAreThoseOfEveryLevel) {
  const ClockLimits limits = Make({.hz = 900'000'000, .levels = {450'000'000}, .announces = false}).limits();
  EXPECT_EQ(limits.shortest, 72'817u);
  EXPECT_EQ(limits.longest, 145'636u);
  EXPECT_FALSE(limits.announces) << "it can be stepped at any time";
}

TEST(DomainClockTest, ManyStepsTakeBoundedMemory) {
  DomainClock clock = Make({.hz = 900'000'000, .levels = {500'000'000}});
  const uint64_t steps = 3 * DomainClock::kStepsKept;
  for (uint64_t i = 1; i <= steps; ++i) clock.Step(InstantAtCycle(1000 * i), i % 2 == 0 ? 900'000'000 : 500'000'000);
  EXPECT_EQ(EdgesUntilCycle(clock, 1000 * steps), steps / 2 * 1400);
  EXPECT_EQ(EdgesUntilCycle(clock, 1000 * (steps - 1000)), (steps - 1000) / 2 * 1400) << "and still knows";
}

TEST(DomainClockTest, LevelsExcludeStepsAndGates) {
  const DomainClockSpec levels = {.levels = {500'000'000}};
  DomainClockSpec stepped = levels, gated = levels, low = levels;
  stepped.steps = {{InstantAtCycle(5), 1'000'000}};
  gated.gates = {{InstantAtCycle(5), InstantAtCycle(6)}};
  low.levels = {999};
  for (const DomainClockSpec& spec : {stepped, gated, low}) {
    EXPECT_EQ(DomainClock::Create(spec).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(DomainClockTest, RefusesWhatIsOutOfRange) {
  const auto fails = [](const DomainClockSpec& spec) { return !DomainClock::Create(spec).ok(); };
  EXPECT_TRUE(fails({.hz = 999}));
  EXPECT_FALSE(fails({.hz = 1000}));
  EXPECT_TRUE(fails({.hz = 100'000'000'001}));
  EXPECT_TRUE(fails({.reference_hz = 1000, .hz = 65'536'001})) << "shorter than a unit of 2^-16 cycles";
  EXPECT_FALSE(fails({.reference_hz = 1000, .hz = 65'536'000}));
  EXPECT_TRUE(fails({.offset_ppb = -2, .tolerance_ppb = 1}));
  EXPECT_TRUE(fails({.tolerance_ppb = 10'000'001}));
  EXPECT_TRUE(fails({.wander_ppb_per_s = 100'001}));
  EXPECT_TRUE(fails({.steps = {{0, 1000}}}));
  EXPECT_TRUE(fails({.steps = {{5, 1000}, {5, 2000}}}));
  EXPECT_TRUE(fails({.steps = {{5, 1}}}));
  EXPECT_TRUE(fails({.gates = {{5, 5}}}));
  EXPECT_TRUE(fails({.gates = {{5, 9}, {8, 12}}}));
}

// --- Drawn clocks, of a slow reference, so that a test passes through steps, gates and segments of the wander
// ---------

constexpr uint64_t kReferenceHz = 1000;
constexpr uint64_t kTicks = uint64_t{16} << kInstantBits;  // in which a drawn clock changes

DomainClockSpec Drawn(bool may_change) {
  DomainClockSpec spec{.reference_hz = kReferenceHz};
  spec.hz = *rc::gen::inRange<uint64_t>(1000, 40'000);
  spec.tolerance_ppb = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  spec.offset_ppb = *rc::gen::inRange<int64_t>(-static_cast<int64_t>(spec.tolerance_ppb), spec.tolerance_ppb + 1);
  spec.wander_ppb_per_s = *rc::gen::element(0, 1, 63, 1000, 100'000);
  spec.seed = *rc::gen::arbitrary<uint64_t>();
  spec.phase = *rc::gen::arbitrary<uint32_t>();
  if (!may_change) return spec;
  auto times = *rc::gen::unique<std::vector<uint64_t>>(4, rc::gen::inRange<uint64_t>(1, kTicks));
  std::ranges::sort(times);
  spec.steps = {{times[0], *rc::gen::inRange<uint64_t>(1000, 40'000)},
                {times[2], *rc::gen::inRange<uint64_t>(1000, 40'000)}};
  spec.gates = {{times[1], times[3]}};
  return spec;
}

// The definition, instant by instant: where the phase passes a whole number. Steps and gates act after their instants.
std::vector<Instant> EdgesOf(const DomainClockSpec& spec, uint64_t until) {
  const unsigned __int128 cycle = static_cast<unsigned __int128>(spec.reference_hz) * 1'000'000'000 << kInstantBits;
  unsigned __int128 phase = cycle * spec.phase >> 32;
  std::vector<Instant> edges;
  for (uint64_t tick = 0; tick < until; ++tick) {
    uint64_t hz = spec.hz;
    for (const ClockStep& step : spec.steps) hz = step.at <= tick ? step.hz : hz;
    for (const ClockGate& gate : spec.gates) hz = gate.from <= tick && tick < gate.to ? 0 : hz;
    phase += static_cast<unsigned __int128>(hz) * static_cast<uint64_t>(1'000'000'000 + spec.offset_ppb);
    if (phase < cycle) continue;
    phase -= cycle;
    edges.push_back(tick + 1);
  }
  return edges;
}

RC_GTEST_PROP(DomainClockPropertyTest, IsItsDefinitionInstantByInstant, ()) {
  DomainClockSpec spec = Drawn(true);
  spec.wander_ppb_per_s = 0;
  const DomainClock clock = Make(spec);
  const std::vector<Instant> edges = EdgesOf(spec, kTicks + kTicks / 4);
  for (size_t edge = 0; edge < edges.size(); ++edge) {
    RC_ASSERT(clock.InstantOf(edge) == edges[edge]);
    RC_ASSERT(clock.EdgesBefore(edges[edge]) == edge);
    RC_ASSERT(clock.EdgesBefore(edges[edge] + 1) == edge + 1);
  }
}

RC_GTEST_PROP(DomainClockPropertyTest, IsItsOwnInverse, ()) {
  const DomainClock clock = Make(Drawn(*rc::gen::arbitrary<bool>()));
  const auto edge = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << *rc::gen::inRange(1, 50));
  const Instant instant = clock.InstantOf(edge);
  RC_ASSERT(clock.EdgesBefore(instant) <= edge);
  RC_ASSERT(clock.EdgesBefore(instant + 1) == edge + 1);
  RC_ASSERT(edge == 0 || clock.InstantOf(edge - 1) < instant);
}

RC_GTEST_PROP(DomainClockPropertyTest, StaysWithinItsLimits, ()) {
  const DomainClockSpec spec = Drawn(*rc::gen::arbitrary<bool>());
  const DomainClock clock = Make(spec);
  const auto first = *rc::gen::inRange<uint64_t>(0, 200'000'000);
  const auto edges = *rc::gen::inRange<uint64_t>(1, 200'000'000);
  const auto passed = uint64_t(clock.InstantOf(first + edges) - clock.InstantOf(first));
  RC_ASSERT(passed >= edges * clock.limits().shortest);
  if (clock.limits().longest > 0) RC_ASSERT(passed <= edges * clock.limits().longest);
}

// The edges of many segments, against a steady clock of the same mean frequency.
RC_GTEST_PROP(DomainClockPropertyTest, WandersWithinItsDeclaredWidth, ()) {
  const DomainClockSpec spec = Drawn(false);
  const DomainClock clock = Make(spec);
  // A whole number of turns of the walk, which last 64 s at most; so does the frequency's mean.
  const uint64_t edges = EdgesUntilCycle(clock, 64 * kReferenceHz * 1000);
  const auto last = absl::int128(clock.InstantOf(edges)) - clock.InstantOf(0);
  absl::int128 low = 0, high = 0;
  for (uint64_t i = 0; i <= 4000; ++i) {
    const uint64_t edge = edges / 50 * i / 4000;
    const absl::int128 deviation = clock.InstantOf(edge) - clock.InstantOf(0) - last * edge / edges;
    low = std::min(low, deviation);
    high = std::max(high, deviation);
  }
  RC_ASSERT(high - low <= 2 * absl::int128(clock.limits().wander) + 3);
}

TEST(DomainClockTest, WanderChangesTheFrequencyByItsRateAtMost) {
  const DomainClock clock = Make({.wander_ppb_per_s = 640, .seed = 3});
  // 64 segments a second, in each of which the frequency differs by 10 ppb from that of the one before.
  uint64_t before = 0, last = 1'000'000'000 / 64;
  bool has_wandered = false;
  for (uint64_t segment = 1; segment < 200; ++segment) {
    const uint64_t now = EdgesUntilCycle(clock, 15'625'000 * segment);
    if (segment > 1) {
      EXPECT_LE(now - before, last + 2);
      EXPECT_GE(now - before + 2, last);
    }
    has_wandered |= segment > 1 && now - before != last;
    last = segment > 1 ? now - before : last;
    before = now;
  }
  EXPECT_TRUE(has_wandered || EdgesUntilCycle(clock, 1'000'000'000) != 1'000'000'000);
  EXPECT_GT(clock.limits().wander, 0u);
}

}  // namespace
}  // namespace sideband::sim
