// SPDX-License-Identifier: Apache-2.0
//
// The cost of a replay after parsing: packing the bits and counting them through the whole pipeline, for growing
// numbers of signals and of cycles.
//   SIDEBAND_ASSIGN_OR_RETURN(const LinearCost cost, MeasureLinearCost());
//   file << GnuplotData(cost.curves);
#ifndef SIDEBAND_TESTS_BENCH_LINEAR_COST_H_
#define SIDEBAND_TESTS_BENCH_LINEAR_COST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/curve.h"
#include "tests/bench/row.h"

namespace sideband::bench {

struct LinearCost {
  Rows rows;  // with the fitted exponents
  // Milliseconds over words of 64 cycles: growing numbers of signals, and of cycles.
  std::vector<Curve> curves;
};

absl::StatusOr<LinearCost> MeasureLinearCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_LINEAR_COST_H_
