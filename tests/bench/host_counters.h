// SPDX-License-Identifier: Apache-2.0
//
// What five counters of the host cost by perf_event_open(2), as one group that is read before and after: what a
// program on the CPU would take in place of the registers. They count this thread on the CPU and nothing of a device.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureHostCounters());
#ifndef SIDEBAND_TESTS_BENCH_HOST_COUNTERS_H_
#define SIDEBAND_TESTS_BENCH_HOST_COUNTERS_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// With the processor's counters, or with the kernel's if there are none, as in most virtual machines; no rows if this
// process may use neither.
absl::StatusOr<Rows> MeasureHostCounters();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_HOST_COUNTERS_H_
