// SPDX-License-Identifier: Apache-2.0
//
// The cost of rendering a scrape, beside prometheus-cpp's Collect and TextSerializer for the same series and labels,
// and beside a copy of the same bytes.
//   const ExpositionCost cost = MeasureExpositionCost();
#ifndef SIDEBAND_TESTS_BENCH_EXPOSITION_COST_H_
#define SIDEBAND_TESTS_BENCH_EXPOSITION_COST_H_

#include <vector>

#include "tests/bench/curve.h"
#include "tests/bench/row.h"

namespace sideband::bench {

struct ExpositionCost {
  Rows rows;
  std::vector<Curve> curves;  // milliseconds over series: text, OpenMetrics, its compression, prometheus-cpp
};

ExpositionCost MeasureExpositionCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_EXPOSITION_COST_H_
