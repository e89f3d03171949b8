// SPDX-License-Identifier: Apache-2.0
//
// Programs that read counters by registers (registers.md, "Experiments" and "The two algorithms"): the cycles that an
// eager and a patient reader take, and how often a reader that shares its client has to begin again, in attempts of
// get_shared on the register read path with thread switches at random.
//   const ReaderCycles cycles = CyclesToRead(/*counters=*/64, {.lookup_cycles = 4});
//   const double gain = static_cast<double>(cycles.patient) / cycles.eager;
//   const HpcRetries retries = MeasureHpcRetries({.switches_per_cycle = 1e-3, .counters = 8, .attempts = 100'000});
//   const double fraction = static_cast<double>(retries.interrupted) / retries.attempts;
//
// The program runs on a core that executes an instruction a cycle and has its slice for itself. A poll is a read of
// hpcc, a mask and a branch; a value is a read of hpcr into a register of the core, in a loop that is unrolled. If
// switches are independent of each other and of the reader, an attempt of R cycles is interrupted with the probability
// 1 − exp(−R · rate).
#ifndef SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_
#define SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/hpc_client.h"
#include "tests/lab/bench/measurement.h"

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

struct HpcRetryOptions {
  double switches_per_cycle = 0;  // mean; intervals have an exponential distribution
  uint32_t counters = 8;          // 1 to 64
  uint64_t attempts = 1;
  // Whether an attempt begins while the answer to the one before may be under way, as get_shared does. It may then wait
  // for the manager or for a tag, and takes longer than read_cycles.
  bool at_once = false;
  uint64_t seed = 1;
};

struct HpcRetries {
  uint64_t attempts = 0;
  uint64_t interrupted = 0;  // attempts that have seen a switch
  // From the accepted write of hpcm to the last read of hpcc, of an attempt without a switch: the time in which a
  // switch is noticed.
  uint64_t read_cycles = 0;
  double expected = 0;  // fraction of attempts
  double sigma = 0;     // standard deviation of the measured fraction
};

// A reader that takes each value once it is there, with an access a cycle. The same options have the same result.
HpcRetries MeasureHpcRetries(const HpcRetryOptions& options);

// Measures readers of 1, 8 and 64 counters, over four decades of the rate.
Rows MeasureHpcRetryRates();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_REGISTER_READERS_H_
