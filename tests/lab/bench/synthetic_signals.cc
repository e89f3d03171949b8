// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/synthetic_signals.h"

#include <algorithm>

namespace sideband::bench {

uint64_t SyntheticSignals::NextRun() {
  next_run_ = next_run_ + 1 < run_cycles_.size() ? next_run_ + 1 : 0;
  return run_cycles_[next_run_];
}

void SyntheticSignals::Next() {
  window_.Slide();
  const uint64_t end = window_.range().begin + window_.capacity();
  for (sim::WireId wire = 0; wire < window_.wire_count(); ++wire) {
    uint64_t cycle = window_.range().begin + NextRun() - 1;
    while (cycle < end) {
      const uint64_t run_end = std::min(cycle + NextRun(), end);
      window_.SetRun(wire, {cycle, run_end});
      cycle = run_end + NextRun();
    }
  }
  window_.ExtendTo(end);
}

}  // namespace sideband::bench
