// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/synthetic_signals.h"

#include <algorithm>

namespace sideband::bench {

void SyntheticSignals::Next() {
  window_.Slide();
  const uint64_t end = window_.range().begin + window_.capacity();
  for (sim::WireId wire = 0; wire < window_.wire_count(); ++wire) {
    uint64_t cycle = window_.range().begin;
    while (cycle < end) {
      const uint64_t run = cycle + random_() % run_cycles_max_;
      window_.SetRun(wire, {std::min(cycle, end), std::min(run, end)});
      cycle = run + 1 + random_() % run_cycles_max_;
    }
  }
  window_.ExtendTo(end);
}

}  // namespace sideband::bench
