// SPDX-License-Identifier: Apache-2.0
//
// The speed at which unit-level counters count packed bits, relative to the processor's maximum: a loop that only
// counts the same bytes, contiguous and resident in L2.
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
