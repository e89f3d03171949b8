// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of pattern_table.h for wires with contiguous columns, compiled once per instruction set.
//   FastestPatternKernels().within32({rates, offsets}, 1000, 511, sums, 45);
#ifndef SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_
#define SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/wires/wire_source.h"

namespace sideband::sim {

// The kernels read columns in blocks of this many wires: as many elements behind the last wire must be readable.
inline constexpr size_t kPatternBlock = 8;

// The columns of a phase, from the first counted wire on. Rates are in units of 2^-32 per cycle.
template <typename Word>
struct PhaseColumns {
  const Word* rates;
  const uint32_t* offsets;
};

// One end of a range of cycles that spans phases or turns: its phase, its cycle in the phase, and the ones of the turn
// before the phase.
struct PhaseEdge {
  PhaseColumns<uint32_t> columns;
  const uint32_t* before;
  uint64_t cycle;  // below 2^32
};

struct PatternKernels {
  // Adds to sums[0, count) the ones in `length` cycles, at most 2^31, of a phase from its cycle `begin` on. Exact for
  // any `begin`, and for rates up to 2^32.
  void (*within32)(PhaseColumns<uint32_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, size_t count);
  void (*within64)(PhaseColumns<uint64_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, size_t count);
  // Adds the ones from a place in a turn to another place `turns` turns later. If `turns` is not 0, `end` may be the
  // earlier place within its turn.
  void (*across32)(const PhaseEdge& begin, const PhaseEdge& end, const uint32_t* turn_counts, uint64_t turns,
                   uint64_t* sums, size_t count);
};

// One per instruction set of this processor, slowest first; never empty. All compute the same results.
std::span<const PatternKernels> SupportedPatternKernels();
const PatternKernels& FastestPatternKernels();

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_
