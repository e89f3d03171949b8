// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/experiments/series_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sideband {
namespace {

using Series = std::vector<double>;

double Distance(const Series& one, const Series& other) { return SeriesDistance(one, other).value_or(-1); }

TEST(SeriesDistanceTest, ByHand) {
  EXPECT_DOUBLE_EQ(Distance({1, 2, 3}, {1, 2, 3}), 0);
  // Over their means {0.5, 1.5} and {1, 1}: the diagonal costs 0.5 twice, and a detour more.
  EXPECT_DOUBLE_EQ(Distance({1, 3}, {4, 4}), 0.5);
  // Both means are 1. 0-0, 0-1, 3-2, 0-1 and 1-1 cost three times 1.
  // 1-1.
  EXPECT_DOUBLE_EQ(Distance({0, 3, 0, 1}, {0, 1, 2, 1}), 0.75);
}

TEST(SeriesDistanceTest, AFactorIsNoDistance) { EXPECT_DOUBLE_EQ(Distance({1, 2, 4, 1}, {10, 20, 40, 10}), 0); }

TEST(SeriesDistanceTest, ValuesMayBeShiftedWithinTheBand) {
  const auto burst = [](size_t at) {
    Series series(20);
    series[at] = 1;
    return series;
  };
  // A tenth of 20 is 2; a value of 20 over the mean.
  EXPECT_DOUBLE_EQ(Distance(burst(8), burst(10)), 0);
  EXPECT_DOUBLE_EQ(Distance(burst(8), burst(11)), 2 * 20.0 / 20);
}

TEST(SeriesDistanceTest, LengthsMayDiffer) {
  EXPECT_DOUBLE_EQ(Distance({1, 1, 1}, {1, 1, 1, 1, 1}), 0);
  EXPECT_DOUBLE_EQ(Distance({5}, {1, 1, 1, 1, 1}), 0);
}

TEST(SeriesDistanceTest, WithoutAMeanThereIsNone) {
  EXPECT_EQ(SeriesDistance({}, Series{1}), std::nullopt);
  EXPECT_EQ(SeriesDistance(Series{1}, {}), std::nullopt);
  EXPECT_EQ(SeriesDistance(Series{0, 0}, Series{1, 2}), std::nullopt);
}

TEST(SeriesDistanceTest, IsSymmetricAndNeverAboveThatOfTheDiagonal) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    Series one(1 + random() % 40), other(one.size());
    for (Series* series : {&one, &other}) {
      std::ranges::generate(*series, [&] { return static_cast<double>(1 + random() % 9); });
    }
    const double found = Distance(one, other);
    EXPECT_NEAR(found, Distance(other, one), 1e-9);
    double sum_of_one = 0, sum_of_other = 0, diagonal = 0;
    for (size_t at = 0; at < one.size(); ++at) sum_of_one += one[at], sum_of_other += other[at];
    for (size_t at = 0; at < one.size(); ++at) diagonal += std::abs(one[at] / sum_of_one - other[at] / sum_of_other);
    EXPECT_LE(found, diagonal + 1e-9);
  }
}

}  // namespace
}  // namespace sideband
