// SPDX-License-Identifier: Apache-2.0
//
// The speed at which sim/riscv runs programs: without caches, with caches, and with caches and wires; beside qemu's
// user mode, where it is installed.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureProgramSpeed("scratch"));
#ifndef SIDEBAND_TESTS_BENCH_PROGRAM_SPEED_H_
#define SIDEBAND_TESTS_BENCH_PROGRAM_SPEED_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// INTERNAL if qemu's checksum differs, wires do not add up to tallies, or the L2 does not read what the L1s miss. Needs
// a folder for files of qemu.
absl::StatusOr<Rows> MeasureProgramSpeed(const std::string& scratch);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_PROGRAM_SPEED_H_
