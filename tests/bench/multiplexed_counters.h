// SPDX-License-Identifier: Apache-2.0
//
// What counting many events on two multiplexed counters costs and misses, beside reading them by registers
// (registers.md, "Experiments": software that switches the events of a core with two programmable counters).
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureMultiplexedCounters());
#ifndef SIDEBAND_TESTS_BENCH_MULTIPLEXED_COUNTERS_H_
#define SIDEBAND_TESTS_BENCH_MULTIPLEXED_COUNTERS_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL if a count by registers is not the machine's tally.
absl::StatusOr<Rows> MeasureMultiplexedCounters();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_MULTIPLEXED_COUNTERS_H_
