// SPDX-License-Identifier: Apache-2.0
//
// The cycles that a program takes to read counters by registers, by an eager and by a patient reader (registers.md,
// "Experiments").
//   const ReaderCycles cycles = CyclesToRead(/*counters=*/64, {.lookup_cycles = 4});
//   const double gain = static_cast<double>(cycles.patient) / cycles.eager;
//
// The program runs on a core that executes an instruction a cycle and has its slice for itself. A poll is a read of
// hpcc, a mask and a branch; a value is a read of hpcr into a register of the core, in a loop that is unrolled.
#ifndef SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_
#define SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/hpc.h"
#include "tests/lab/bench/curve.h"
#include "tests/lab/bench/row.h"

namespace sideband::bench {

inline constexpr uint32_t kPollCycles = 3;

// From the write of hpcm to the last value.
struct ReaderCycles {
  uint64_t eager;    // polls `empty` before each value
  uint64_t patient;  // polls `trigger` once, then reads all
};

// `counters` is 1 to 64. Ends the program if a value is not the counter's.
ReaderCycles CyclesToRead(uint32_t counters, const mcu::HpcTiming& timing);

struct RegisterReaders {
  Rows rows;
  std::vector<Curve> curves;  // for each lookup latency, the patient reader's cycles of the eager one's over counters
};

RegisterReaders MeasureRegisterReaders();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_
