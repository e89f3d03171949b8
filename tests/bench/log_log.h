// SPDX-License-Identifier: Apache-2.0
//
// Curves on two logarithmic axes: how steep they are, and a picture of them.
//   const Curve curve{"cycles", {{65536, 0.1}, {131072, 0.2}}};
//   Slope(curve);                                                  // 1: the cost is linear
//   LogLogSvg("Cost", "signal words", "ms", {curve});
#ifndef SIDEBAND_TESTS_BENCH_LOG_LOG_H_
#define SIDEBAND_TESTS_BENCH_LOG_LOG_H_

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

// A picture as the text of an SVG file: whole decades on both axes, a tick at each, the curves with their names. At
// least one curve with a point; names must need no escaping.
std::string LogLogSvg(const std::string& title, const std::string& x_label, const std::string& y_label,
                      std::span<const Curve> curves);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_LOG_LOG_H_
