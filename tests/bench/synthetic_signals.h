// SPDX-License-Identifier: Apache-2.0
//
// A stream of windows of packed bits as a trace reader hands them on, filled with random runs.
//   SyntheticSignals signals(/*wires=*/64, /*window_cycles=*/65'536, sim::FastestPath(), /*run_cycles_max=*/60);
//   signals.Next();
//   ulc.AdvanceTo(signals.window().range().end, signals.window(), delivered);
#ifndef SIDEBAND_TESTS_BENCH_SYNTHETIC_SIGNALS_H_
#define SIDEBAND_TESTS_BENCH_SYNTHETIC_SIGNALS_H_

#include <cstdint>
#include <random>

#include "sim/wires/packed_wires.h"

namespace sideband::bench {

// Not thread-safe. Same arguments, same bits.
class SyntheticSignals {
 public:
  static constexpr uint64_t kHistoryCycles = 1024;

  SyntheticSignals(uint32_t wires, uint64_t window_cycles, sim::PopcountPath path, uint64_t run_cycles_max)
      : window_(wires, window_cycles, kHistoryCycles, path), run_cycles_max_(run_cycles_max) {}

  // Slides on and fills the next window.
  void Next();
  const sim::PackedWires& window() const { return window_; }

 private:
  sim::PackedWires window_;
  const uint64_t run_cycles_max_;
  std::mt19937_64 random_;
};

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_SYNTHETIC_SIGNALS_H_
