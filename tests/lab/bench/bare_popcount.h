// SPDX-License-Identifier: Apache-2.0
//
// The fastest population count of memory on this processor: the baseline for the counter pipeline.
//   const uint64_t ones = BarePopcount(sim::FastestPath(), words);
#ifndef SIDEBAND_TESTS_LAB_BENCH_BARE_POPCOUNT_H_
#define SIDEBAND_TESTS_LAB_BENCH_BARE_POPCOUNT_H_

#include <cstdint>
#include <span>

#include "sim/wires/popcount.h"

namespace sideband::bench {

// The number of ones in `words`. `path` must be supported by this processor.
uint64_t BarePopcount(sim::PopcountPath path, std::span<const uint64_t> words);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_BARE_POPCOUNT_H_
