// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/bitwise_source.h"

namespace sideband::sim {

void BitwiseSource::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  for (size_t i = 0; i < wires.size(); ++i) {
    for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += bit_(wires[i], cycle) ? 1 : 0;
  }
}

}  // namespace sideband::sim
