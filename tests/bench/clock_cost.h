// SPDX-License-Identifier: Apache-2.0
//
// The cost of clocks: a packet into the fit, beside a running least-squares update; a query; bytes of state.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureClockCost());
#ifndef SIDEBAND_TESTS_BENCH_CLOCK_COST_H_
#define SIDEBAND_TESTS_BENCH_CLOCK_COST_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// A clock of 1.3 GHz that is steady within 50 ppm, triggered 1000 times a second, with wires of 0 to 50 ns.
absl::StatusOr<Rows> MeasureClockCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_CLOCK_COST_H_
