// SPDX-License-Identifier: Apache-2.0
//
// The speed of a live chip of 138,240 counters, relative to real time, on one core; and the cost of gates and exits.
//   SIDEBAND_ASSIGN_OR_RETURN(const LiveChip live, MeasureLiveChip());
#ifndef SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_
#define SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/curve.h"
#include "tests/bench/row.h"

namespace sideband::bench {

struct LiveChip {
  Rows rows;
  std::vector<Curve> curves;  // for each way of gating, the time over the rate of exits, of the time without exits
};

// INTERNAL if a count is wrong.
absl::StatusOr<LiveChip> MeasureLiveChip();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_LIVE_CHIP_H_
