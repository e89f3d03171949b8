// SPDX-License-Identifier: Apache-2.0
//
// Measurements of growing sizes: the exponent of the cost, and the points in gnuplot's format.
//   const Curve curve{"cycles", {{65536, 0.1}, {131072, 0.2}}};
//   Slope(curve);            // 1: the cost is linear
//   GnuplotData({&curve, 1});
#ifndef SIDEBAND_TESTS_LAB_BENCH_CURVE_H_
#define SIDEBAND_TESTS_LAB_BENCH_CURVE_H_

#include <span>
#include <string>
#include <vector>

namespace sideband::bench {

// Both coordinates must be above 0.
struct Point {
  double x;
  double y;
};

struct Curve {
  std::string name;
  std::vector<Point> points;
};

// The best-fitting exponent e of y = c·x^e, by least squares of the logarithms. Requires at least two different x.
double Slope(const Curve& curve);

// A data set for each curve, with its name in quotes on the first line (`plot FILE index 0 title columnheader(1)`).
// Names must not require escaping.
std::string GnuplotData(std::span<const Curve> curves);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_CURVE_H_
