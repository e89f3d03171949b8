// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of pattern_table.h over wires whose columns are contiguous, once per instruction set.
//   FastestPatternKernels().within32({rates, offsets}, 1000, 511, sums, 45);
#ifndef SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_
#define SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/wires/wire_source.h"

namespace sideband::sim {

// All kernels read columns in blocks of this many wires: as many elements beyond the last wire must be readable.
inline constexpr size_t kPatternBlock = 8;

// Columns of one phase, from the first wire asked for on. Rates in units of 2^-32 per cycle.
template <typename Word>
struct PhaseColumns {
  const Word* rates;
  const uint32_t* offsets;
};

// What a range of cycles that spans phases or turns needs of a phase: where in it, and the ones of the turn before it.
struct PhaseEdge {
  PhaseColumns<uint32_t> columns;
  const uint32_t* before;
  uint64_t cycle;  // below 2^32
};

struct PatternKernels {
  // Adds to sums[0, count) the ones in `length` cycles, at most 2^31, of one phase from its cycle `begin` on. Exact for
  // any `begin`, and for rates up to 2^32.
  void (*within32)(PhaseColumns<uint32_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, size_t count);
  void (*within64)(PhaseColumns<uint64_t> columns, uint64_t begin, uint64_t length, uint64_t* sums, size_t count);
  // Adds the ones from one place in a turn up to another that comes `turns` turns later (in which case it may be the
  // earlier one within the turn).
  void (*across32)(const PhaseEdge& begin, const PhaseEdge& end, const uint32_t* turn_counts, uint64_t turns,
                   uint64_t* sums, size_t count);
  // Whether each wire is the one after the wire before it.
  bool (*consecutive)(std::span<const WireId> wires);
};

// For each instruction set that this processor has, slowest first; never empty. All give the same results.
std::span<const PatternKernels> SupportedPatternKernels();
const PatternKernels& FastestPatternKernels();

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_PATTERN_KERNELS_H_
