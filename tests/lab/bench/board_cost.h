// SPDX-License-Identifier: Apache-2.0
//
// What a board's base commands cost on the bus, in bit times: the daemon's reader reads an emulated device over a bus
// of 100 kHz, whose time is virtual. These numbers do not depend on the machine.
//   SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, MeasureBoardCost("deploy/examples"));
#ifndef SIDEBAND_TESTS_LAB_BENCH_BOARD_COST_H_
#define SIDEBAND_TESTS_LAB_BENCH_BOARD_COST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/lab/bench/row.h"

namespace sideband::bench {

// Of chip-board.yaml, without the extension, at an interval of a second.
struct BoardPass {
  uint64_t bit_times = 0;  // to read each group of the interval's class once
  uint64_t commands = 0;
  uint64_t metric_bit_times = 0;  // of them, of the group `metrics`
  double oldest_s = 0;            // the greatest age of a group's sample in a minute, with the default share of the bus
};
absl::StatusOr<BoardPass> MeasureBoardPass(const std::string& chip_file);

// Of a device with snapshots, once a second.
struct SnapshotWait {
  uint64_t bit_times_alone = 0;   // of the longest snapshot, from its instant to its end
  uint64_t bit_times_beside = 0;  // the same, while the board is read in between
  uint64_t longest_wait = 0;      // from a snapshot's instant to its first transaction, beside the board
  uint64_t longest_command = 0;   // of the board
  uint64_t commands = 0;          // of the board in that time
};
absl::StatusOr<SnapshotWait> MeasureSnapshotWait(const std::string& chip_file);

// Both, of the files in `examples`.
absl::StatusOr<Rows> MeasureBoardCost(const std::string& examples);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_BOARD_COST_H_
