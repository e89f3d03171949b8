// SPDX-License-Identifier: Apache-2.0
//
// What was measured of growing sizes: how steeply the cost grows, and the points as gnuplot reads them.
//   const Curve curve{"cycles", {{65536, 0.1}, {131072, 0.2}}};
//   Slope(curve);            // 1: the cost is linear
//   GnuplotData({&curve, 1});
#ifndef SIDEBAND_TESTS_BENCH_CURVE_H_
#define SIDEBAND_TESTS_BENCH_CURVE_H_

#include <span>
#include <string>
#include <vector>

namespace sideband::bench {

// Both coordinates above 0.
struct Point {
  double x;
  double y;
};

struct Curve {
  std::string name;
  std::vector<Point> points;
};

// The exponent e of y = c·x^e that fits best, by least squares of the logarithms. At least two different x are needed.
double Slope(const Curve& curve);

// A data set for each curve, its name in quotes on the first line (`plot FILE index 0 title columnheader(1)`). Names
// must need no escaping.
std::string GnuplotData(std::span<const Curve> curves);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_CURVE_H_
