// SPDX-License-Identifier: Apache-2.0
//
// The time of the firmware for SMBPBI's base commands on an emulated device.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureBaseCommands("deploy/examples/chip.yaml"));
#ifndef SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_
#define SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/row.h"

namespace sideband::bench {

// The slowest of all commands, in microseconds of processor time: on a device that is up to date, and on one that first
// has to count 10 ms, the maximum lag of `sideband-mcu serve`. INTERNAL if a command is not answered.
absl::StatusOr<Rows> MeasureBaseCommands(const std::string& chip_file);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_BASE_COMMANDS_H_
