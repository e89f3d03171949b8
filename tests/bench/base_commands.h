// SPDX-License-Identifier: Apache-2.0
//
// How long the firmware takes for SMBPBI's own commands on an emulated device.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureBaseCommands("deploy/examples/chip.yaml"));
#ifndef SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_
#define SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// The slowest of all commands, in microseconds of processor time: on a device that has counted up to now, and on one
// that has to count the 10 ms first that `sideband-mcu serve` may be behind. INTERNAL if a command is not answered.
absl::StatusOr<Rows> MeasureBaseCommands(const std::string& chip_file);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_
