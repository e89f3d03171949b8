// SPDX-License-Identifier: Apache-2.0
//
// The host's cost of a transaction beyond the wire: the daemon's session on a bus that answers at once.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureSessionOverhead());
#ifndef SIDEBAND_TESTS_BENCH_SESSION_OVERHEAD_H_
#define SIDEBAND_TESTS_BENCH_SESSION_OVERHEAD_H_

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

absl::StatusOr<Rows> MeasureSessionOverhead();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_SESSION_OVERHEAD_H_
