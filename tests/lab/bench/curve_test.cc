// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/curve.h"

#include <gtest/gtest.h>

namespace sideband::bench {
namespace {

TEST(CurveTest, SlopeIsTheExponent) {
  EXPECT_NEAR(Slope({"", {{1, 7}, {10, 70}, {1000, 7000}}}), 1, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 4}, {3, 9}, {5, 25}}}), 2, 1e-12);
  EXPECT_NEAR(Slope({"", {{2, 5}, {9, 5}}}), 0, 1e-12);
}

TEST(CurveTest, TwoBlankLinesSeparateDataSets) {
  const Curve curves[] = {{"64 to 4096 signals", {{100, 0.125}, {5000, 5}}}, {"second", {{200, 0.5}}}};
  EXPECT_EQ(GnuplotData(curves), "\"64 to 4096 signals\"\n100 0.125\n5000 5\n\n\n\"second\"\n200 0.5\n");
}

}  // namespace
}  // namespace sideband::bench
