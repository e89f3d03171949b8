// SPDX-License-Identifier: Apache-2.0
//
// How often a reader that shares its client has to begin again (registers.md, "The two algorithms"): attempts of
// get_shared on the register read path, with thread switches at random.
//   const HpcRetries retries = MeasureHpcRetries({.switches_per_cycle = 1e-3, .counters = 8, .attempts = 100'000});
//   const double fraction = static_cast<double>(retries.interrupted) / retries.attempts;
// If switches are independent of each other and of the reader, an attempt of R cycles is interrupted with the
// probability 1 − exp(−R · rate).
#ifndef SIDEBAND_TESTS_LAB_BENCH_HPC_RETRIES_H_
#define SIDEBAND_TESTS_LAB_BENCH_HPC_RETRIES_H_

#include <cstdint>

#include "tests/lab/bench/row.h"

namespace sideband::bench {

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

// Of readers of 1, 8 and 64 counters, over four decades of the rate.
Rows MeasureHpcRetryRates();

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_HPC_RETRIES_H_
