// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/affine_strip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace sideband::clocks {
namespace {

// The highest line at x is held down by two bars: by the highs of one on either side, or by the low of one and the high
// of a nearer one on the same side.
absl::int128 HighestByPairs(const std::vector<StripBar>& bars, int64_t x) {
  absl::int128 highest = absl::Int128Max();
  const auto hold = [&](Vertex a, Vertex b) { highest = std::min(highest, CeilOfLine(a, b, x)); };
  for (const StripBar& a : bars) {
    if (a.x == x) highest = std::min(highest, absl::int128(a.high));
    for (const StripBar& b : bars) {
      if (a.x >= b.x) continue;
      if (b.x <= x) hold({a.x, a.low}, {b.x, b.high});
      if (x <= a.x) hold({a.x, a.high}, {b.x, b.low});
      if (a.x <= x && x <= b.x) hold({a.x, a.high}, {b.x, b.high});
    }
  }
  return highest;
}

absl::int128 LowestByPairs(std::vector<StripBar> bars, int64_t x) {
  for (StripBar& bar : bars) bar = {bar.x, -bar.high, -bar.low};
  return -HighestByPairs(bars, x);
}

// A line is left if each bar is reached by the lines of the others.
bool FitsByPairs(const std::vector<StripBar>& bars, const StripBar& next) {
  return bars.size() < 2 || (LowestByPairs(bars, next.x) <= next.high && next.low <= HighestByPairs(bars, next.x));
}

std::vector<StripBar> AnyBars(int bars_max, int64_t jitter) {
  std::vector<StripBar> bars;
  const int64_t slope = *rc::gen::inRange<int64_t>(-100, 100), width = *rc::gen::inRange<int64_t>(0, 40);
  int64_t x = 0;
  for (int i = *rc::gen::inRange(1, bars_max); i > 0; --i) {
    const int64_t low = slope * x / 7 + *rc::gen::inRange<int64_t>(-jitter - 1, jitter + 1);
    bars.push_back({x, low, low + width});
    x += *rc::gen::inRange<int64_t>(1, 30);
  }
  return bars;
}

RC_GTEST_PROP(AffineStripProperty, IsThatOfAllPairsOfBars, ()) {
  std::vector<StripBar> added;
  AffineStrip strip(0);
  for (const StripBar& bar : AnyBars(60, *rc::gen::element<int64_t>(0, 10, 30))) {
    const bool fits = FitsByPairs(added, bar);
    // A bar that no line reaches by less than a rounding.
    if (fits && !strip.Add(bar)) break;
    RC_ASSERT(fits || !strip.Add(bar));
    if (!fits) break;
    added.push_back(bar);
    if (added.size() < 2) continue;
    for (int64_t x = -20; x < bar.x + 20; x += 3) {
      RC_ASSERT(strip.At(x) == (StripRange{LowestByPairs(added, x), HighestByPairs(added, x)}));
    }
  }
}

TEST(AffineStripTest, OneBarIsAPoint) {
  AffineStrip strip(3);
  EXPECT_EQ(strip.At(0), std::nullopt);
  ASSERT_TRUE(strip.Add({10, 100, 105}));
  // Widened for the line, and again for what wanders around it.
  EXPECT_EQ(strip.At(10), (StripRange{94, 111}));
  EXPECT_EQ(strip.At(11), std::nullopt);
  EXPECT_EQ(strip.Period(), std::nullopt);
}

TEST(AffineStripTest, TwoBarsGiveAPeriod) {
  AffineStrip strip(0);
  ASSERT_TRUE(strip.Add({0, 0, 10}));
  ASSERT_TRUE(strip.Add({100, 1000, 1010}));
  const absl::int128 unit = absl::int128(1) << kPeriodFractionBits;
  EXPECT_EQ(strip.Period(), (PeriodRange{unit * 99 / 10, unit * 101 / 10 + 1}));
  EXPECT_EQ(strip.At(50), (StripRange{500, 510}));
  EXPECT_EQ(strip.At(200), (StripRange{1980 + 10, 2020}));
  // 1009.9 and 1020.1
  EXPECT_EQ(strip.At(101), (StripRange{1009, 1021}));
}

TEST(AffineStripTest, ABarOffAllLinesChangesNothing) {
  AffineStrip strip(0);
  ASSERT_TRUE(strip.Add({0, 0, 10}));
  ASSERT_TRUE(strip.Add({100, 1000, 1010}));
  EXPECT_FALSE(strip.Add({200, 2021, 2030}));
  EXPECT_FALSE(strip.Add({200, 1970, 1989}));
  EXPECT_EQ(strip.bars(), 2u);
  EXPECT_TRUE(strip.Add({200, 2020, 2030}));  // one line is left
  EXPECT_EQ(strip.At(200), (StripRange{2020, 2020}));
}

// A curve within the wander, of which every bar is a vertex.
TEST(AffineStripTest, AFullHullOnlyWidens) {
  AffineStrip strip(20'000);
  std::vector<StripBar> bars;
  for (int64_t x = 0; x < 200; ++x) bars.push_back({x, (x - 100) * (x - 100), (x - 100) * (x - 100)});
  for (const StripBar& bar : bars) ASSERT_TRUE(strip.Add(bar));
  EXPECT_LE(strip.upper().vertices().size(), kVerticesMax);
  EXPECT_LE(strip.negated_lower().vertices().size(), kVerticesMax);
  for (const StripBar& bar : bars) {
    EXPECT_LE(strip.At(bar.x)->low, bar.low);
    EXPECT_GE(strip.At(bar.x)->high, bar.high);
  }
  const AffineStrip before = strip;
  strip.Shrink(8);
  EXPECT_LE(strip.upper().vertices().size(), 8u);
  for (const StripBar& bar : bars) {
    EXPECT_LE(strip.At(bar.x)->low, before.At(bar.x)->low);
    EXPECT_GE(strip.At(bar.x)->high, before.At(bar.x)->high);
  }
}

TEST(AffineStripTest, HostileHullsAreRefused) {
  const std::vector<Vertex> upper = {{0, 10}, {100, 1010}}, lower = {{0, 0}, {100, -1000}};
  EXPECT_TRUE(AffineStrip::OfHulls(0, 2, upper, lower).ok());
  const struct {
    uint64_t bars;
    std::vector<Vertex> upper, lower;
  } kRows[] = {
      {2, {}, lower},                                                     // empty
      {1, upper, lower},                                                  // more vertices than bars
      {2, {{0, 10}, {0, 1010}}, lower},                                   // not ascending
      {3, {{0, 10}, {50, 800}, {100, 1010}}, lower},                      // not convex
      {2, {{0, 10}, {101, 1010}}, lower},                                 // another end
      {2, {{-1, 10}, {100, 1010}}, lower},                                // before the start
      {2, {{0, 10}, {100, kYMax + 1}}, lower},                            // too late
      {2, {{0, 10}, {100, 999}}, lower},                                  // the last bar is reversed
      {2, {{0, 10}, {100, 1010}}, {{0, -20}, {50, -600}, {100, -1000}}},  // no line fits
      {2, {{100, 1010}}, {{100, -1000}}},                                 // no period
      {65, std::vector<Vertex>(65), lower},                               // too many
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(AffineStrip::OfHulls(0, row.bars, row.upper, row.lower).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sideband::clocks
