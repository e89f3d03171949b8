// SPDX-License-Identifier: Apache-2.0
//
// The cost of the daemon's history: bytes for each counter of each snapshot, and time beside a copy of the counters.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureHistoryCost());
#ifndef SIDEBAND_TESTS_BENCH_HISTORY_COST_H_
#define SIDEBAND_TESTS_BENCH_HISTORY_COST_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL if the history does not contain the appended snapshots.
absl::StatusOr<Rows> MeasureHistoryCost();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_HISTORY_COST_H_
