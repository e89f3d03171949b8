// SPDX-License-Identifier: Apache-2.0
//
// A stream of windows of packed bits as a trace reader produces them, filled with random runs.
//   SyntheticSignals signals(/*wires=*/64, /*window_cycles=*/65'536, sim::FastestPath(), /*run_cycles_max=*/60);
//   signals.Next();
//   ulc.AdvanceTo(signals.window().range().end, signals.window(), delivered);
#ifndef SIDEBAND_TESTS_LAB_BENCH_SYNTHETIC_SIGNALS_H_
#define SIDEBAND_TESTS_LAB_BENCH_SYNTHETIC_SIGNALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

#include "sim/wires/packed_wires.h"

namespace sideband::bench {

// Not thread-safe. Equal arguments give equal bits.
class SyntheticSignals {
 public:
  static constexpr uint64_t kHistoryCycles = 1024;

  SyntheticSignals(uint32_t wires, uint64_t window_cycles, sim::PopcountPath path, uint64_t run_cycles_max)
      : window_(wires, window_cycles, kHistoryCycles, path) {
    std::mt19937_64 random;
    for (uint64_t& cycles : run_cycles_) cycles = 1 + random() % run_cycles_max;
  }

  // Slides to the next window and fills it.
  void Next();
  const sim::PackedWires& window() const { return window_; }

 private:
  uint64_t NextRun();

  sim::PackedWires window_;
  std::array<uint64_t, 1021> run_cycles_;  // drawn once, since drawing costs more than setting
  size_t next_run_ = 0;
};

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_SYNTHETIC_SIGNALS_H_
