// SPDX-License-Identifier: Apache-2.0
//
// What a replay of packed signals through the whole pipeline costs, for growing numbers of signals and of cycles.
//   SIDEBAND_ASSIGN_OR_RETURN(const LinearCost cost, MeasureLinearCost());
//   file << cost.svg;
#ifndef SIDEBAND_TESTS_BENCH_LINEAR_COST_H_
#define SIDEBAND_TESTS_BENCH_LINEAR_COST_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

struct LinearCost {
  Rows rows;        // with the fitted exponents
  std::string svg;  // a picture of the two curves
};

absl::StatusOr<LinearCost> MeasureLinearCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_LINEAR_COST_H_
