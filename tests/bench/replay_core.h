// SPDX-License-Identifier: Apache-2.0
//
// How fast unit-level counters count packed bits, of what the processor can at most: the same bytes, resident in L2,
// contiguous, in a loop that does nothing but count.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureReplayCore());
#ifndef SIDEBAND_TESTS_BENCH_REPLAY_CORE_H_
#define SIDEBAND_TESTS_BENCH_REPLAY_CORE_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL if a count is wrong.
absl::StatusOr<Rows> MeasureReplayCore();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_REPLAY_CORE_H_
