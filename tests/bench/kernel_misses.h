// SPDX-License-Identifier: Apache-2.0
//
// Reads of the L2 and misses of the L1s, of each kernel of sim/riscv (registers.md, "Experiments").
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureKernelMisses(10'000'000));
#ifndef SIDEBAND_TESTS_BENCH_KERNEL_MISSES_H_
#define SIDEBAND_TESTS_BENCH_KERNEL_MISSES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// Of so many instructions, all cores together, on 1, 2 and 4 cores. INTERNAL if the L2 does not read what the L1s miss,
// or is not written what they write back.
absl::StatusOr<Rows> MeasureKernelMisses(uint64_t instructions);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_KERNEL_MISSES_H_
