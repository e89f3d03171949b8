// SPDX-License-Identifier: Apache-2.0
//
// What it costs that events take turns on counters, beside the same device on which none does.
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationCost cost, MeasureRotationCost("deploy/examples", scratch_folder));
//   Print(RowsOf(cost));
#ifndef SIDEBAND_TESTS_LAB_BENCH_ROTATION_COST_H_
#define SIDEBAND_TESTS_LAB_BENCH_ROTATION_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/lab/bench/row.h"

namespace sideband::bench {

struct RotationCost {
  // A live chip with turns of 100 us, and the same without a rotation: only as many events as there are counters.
  struct Live {
    std::string chip;
    double rotating_seconds = 0;  // of processor time, for the same cycles
    double plain_seconds = 0;
    double triggered_seconds =
        0;  // without a rotation, and with a trigger every 100 us: all counters are read as often
    double ratio() const { return rotating_seconds / plain_seconds; }
  };
  std::vector<Live> live;
  // Mean pipeline cycles.
  double slot_cycles = 0, switch_cycles = 0;
  uint64_t slot_ends = 0, switches = 0;
  // Bit times of a snapshot a second after another, and of one with a counter for each event.
  uint64_t rotating_bit_times = 0, exact_bit_times = 0;
  // Bytes for a rotated event of a context: between its turns, and what its block shows.
  uint64_t state_bytes = 0, shown_bytes = 0;
};

// `examples` is the folder of the chip files; `scratch` must exist and gets variants of them.
absl::StatusOr<RotationCost> MeasureRotationCost(const std::string& examples, const std::string& scratch);

Rows RowsOf(const RotationCost& cost);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_ROTATION_COST_H_
