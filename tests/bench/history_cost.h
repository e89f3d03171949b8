// SPDX-License-Identifier: Apache-2.0
//
// What the daemon's history takes: bytes for each counter of each snapshot, and time beside a copy of the counters.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureHistoryCost());
#ifndef SIDEBAND_TESTS_BENCH_HISTORY_COST_H_
#define SIDEBAND_TESTS_BENCH_HISTORY_COST_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL where the history does not hold what it was given.
absl::StatusOr<Rows> MeasureHistoryCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_HISTORY_COST_H_
