// SPDX-License-Identifier: Apache-2.0
//
// What clocks cost a live device: eight domains with triggers at 1 kHz beside the same device without (clocks.md,
// section 10).
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureClockedDevice(scratch));
#ifndef SIDEBAND_TESTS_BENCH_CLOCKED_DEVICE_H_
#define SIDEBAND_TESTS_BENCH_CLOCKED_DEVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// Its speed, its latches, the bytes of its snapshots, and of a timeline. Writes chip files into the folder `scratch`.
absl::StatusOr<Rows> MeasureClockedDevice(const std::string& scratch);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_CLOCKED_DEVICE_H_
