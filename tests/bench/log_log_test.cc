// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/log_log.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sideband::bench {
namespace {

size_t Occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(LogLogTest, SlopeIsTheExponent) {
  EXPECT_NEAR(Slope({"", {{1, 7}, {10, 70}, {1000, 7000}}}), 1, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 4}, {3, 9}, {5, 25}}}), 2, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 5}, {9, 5}}}), 0, 1e-12);
}

TEST(LogLogTest, SvgHasAxesTicksLabelsAndCurves) {
  const Curve curves[] = {{"first", {{100, 0.1}, {1000, 1}, {5000, 5}}}, {"second", {{200, 0.3}}}};
  const std::string svg = LogLogSvg("A title", "x label", "y label", curves);
  for (const char* text : {">A title<", ">x label<", ">y label<", ">first<", ">second<", ">100<", ">1000<", ">0.1<"}) {
    EXPECT_EQ(Occurrences(svg, text), 1u) << text;
  }
  EXPECT_EQ(Occurrences(svg, "<polyline"), 2u);
  EXPECT_EQ(Occurrences(svg, "<circle"), 4u);
  EXPECT_EQ(Occurrences(svg, "10<tspan"), 1u) << "10^4, the end of the x axis";
  EXPECT_EQ(Occurrences(svg, "nan") + Occurrences(svg, "inf"), 0u);
  // x from 10^2 at 80 to 10^4 at 696; y from 10^-1 at 380 to 10^1 at 44.
  EXPECT_EQ(Occurrences(svg, "points=\"80.0,380.0 388.0,212.0 "), 1u);
}

TEST(LogLogTest, OnePointStillHasAnAxis) {
  const Curve curve{"point", {{100, 10}}};
  const std::string svg = LogLogSvg("", "", "", std::span(&curve, 1));
  EXPECT_EQ(Occurrences(svg, "nan") + Occurrences(svg, "inf"), 0u);
}

}  // namespace
}  // namespace sideband::bench
