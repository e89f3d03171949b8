// SPDX-License-Identifier: Apache-2.0
//
// The fastest that this processor can count the ones of memory: what the counter pipeline is compared with.
//   const uint64_t ones = BarePopcount(sim::FastestPath(), words);
#ifndef SIDEBAND_TESTS_BENCH_BARE_POPCOUNT_H_
#define SIDEBAND_TESTS_BENCH_BARE_POPCOUNT_H_

#include <cstdint>
#include <span>

#include "sim/wires/popcount.h"

namespace sideband::bench {

// `path` must be a supported one.
uint64_t BarePopcount(sim::PopcountPath path, std::span<const uint64_t> words);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_BARE_POPCOUNT_H_
