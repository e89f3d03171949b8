// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/measurement.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::bench {

double Slope(const Curve& curve) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Point& point : curve.points) {
    const double x = std::log(point.x);
    const double y = std::log(point.y);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const auto n = static_cast<double>(curve.points.size());
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

std::string GnuplotData(std::span<const Curve> curves) {
  std::string data;
  for (const Curve& curve : curves) {
    absl::StrAppend(&data, data.empty() ? "" : "\n\n", "\"", curve.name, "\"\n");
    for (const Point& point : curve.points) absl::StrAppendFormat(&data, "%g %g\n", point.x, point.y);
  }
  return data;
}

}  // namespace sideband::bench
