// SPDX-License-Identifier: Apache-2.0
//
// What the gates of a device cost and move, beside a flat design and a processor's counters that a hypervisor swaps
// (docs/experiments/virtual_counters.md). The results do not depend on the machine.
//   SIDEBAND_ASSIGN_OR_RETURN(const GateCost cost, MeasureGateCost("deploy/examples/chip-large.yaml"));
//   Print(RowsOf(cost));
#ifndef SIDEBAND_TESTS_LAB_BENCH_GATE_COST_H_
#define SIDEBAND_TESTS_LAB_BENCH_GATE_COST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/lab/bench/row.h"

namespace sideband::bench {

// The counters of a processor that a hypervisor saves and loads at a transition, each 64 bits wide: programmable ones
// and fixed ones, the selectors of the former, and two controls.
inline constexpr uint64_t kProcessorPmuRegisters = 8 + 4 + 8 + 2;

struct GateCost {
  // Bits that a slice saves and loads at an exit or an entry.
  uint64_t flat_bits = 0;  // a counter for each wire of the slice
  uint64_t pmu_bits = 0;
  uint64_t gate_bits = 0;
  // Flip-flops of the device, with the largest number of groups.
  uint64_t replicated_registers = 0;
  uint64_t pipeline_registers = 0;
  uint64_t gate_registers = 0;
  // Cycles, of a run with exits and switches.
  double transition_cycles = 0;  // an exit and an entry
  uint64_t switch_cycles = 0;    // the median context switch
  uint64_t exits = 0, switches = 0;

  double registers_ratio() const {
    return static_cast<double>(gate_registers) / static_cast<double>(pipeline_registers);
  }
  double cycles_ratio() const { return static_cast<double>(switch_cycles) / transition_cycles; }
};

// Errors are those of the chip file.
absl::StatusOr<GateCost> MeasureGateCost(const std::string& chip_file);

Rows RowsOf(const GateCost& cost);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_GATE_COST_H_
