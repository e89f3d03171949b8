// SPDX-License-Identifier: Apache-2.0
//
// The speed of a live chip of 138,240 counters, relative to real time, on one core.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureLiveChip());
#ifndef SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_
#define SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL if a count is wrong.
absl::StatusOr<Rows> MeasureLiveChip();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_
