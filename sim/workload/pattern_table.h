// SPDX-License-Identifier: Apache-2.0
//
// Counts how often many wires are 1 between two positions of a workload with endlessly repeated turns of phases: the
// arithmetic of workload.h, in columns so that many wires are counted at once.
//   const PatternTable table({{200'000, 40'000}}, patterns);        // one pattern per phase and wire, phase by phase
//   table.AddConsecutiveCounts({.turns = 0, .phase = 0, .cycle = 17}, {.turns = 3, .phase = 1, .cycle = 0}, 0, sums);
#ifndef SIDEBAND_SIM_WORKLOAD_PATTERN_TABLE_H_
#define SIDEBAND_SIM_WORKLOAD_PATTERN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

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

// The inner loops of PatternTable for wires with contiguous columns, compiled once per instruction set.
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

// A wire in a phase, in units of 2^-32. `rate` is at most 2^32, which means every cycle.
struct Pattern {
  uint64_t rate;
  uint32_t offset;

  // The ones in the first `cycles` cycles, at most 2^62, of a phase.
  uint64_t Ones(uint64_t cycles) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(cycles) * rate + offset) >> 32);
  }
  // Whether it is 1 in a cycle of the phase: whether adding the rate to the fraction of cycle * rate + offset carries.
  // The fraction is the low 32 bits, which are exact although the product may wrap.
  bool Bit(uint64_t cycle) const {
    const uint64_t fraction = (cycle * rate + offset) & UINT32_MAX;
    return fraction + rate >= uint64_t{1} << 32;
  }
};

// A cycle of the workload, common to all wires.
struct TurnPosition {
  uint64_t turns;
  size_t phase;
  uint64_t cycle;  // within the phase
};

// The place of a cycle in turns whose phases begin at begins[0] = 0, begins[1], …; the last element is a turn's length.
TurnPosition LocateCycle(std::span<const uint64_t> begins, uint64_t cycle);

// Immutable, copyable. Memory per phase and wire is 12 bytes, or 20 bytes if a turn has 2^32 cycles or more, or if a
// wire is 1 in every cycle of a phase.
class PatternTable {
 public:
  PatternTable() : PatternTable({}, {}) {}
  // One phase per element of `phase_cycles`, with a sum of at most 2^62; the same number of patterns for each.
  PatternTable(std::span<const uint64_t> phase_cycles, std::span<const Pattern> patterns);

  Pattern pattern(WireId wire, size_t phase) const;
  uint64_t CountBefore(WireId wire, const TurnPosition& position) const;
  // Adds to sums[i] the difference of CountBefore(wires[i], …) at the two positions; `end` must not be before `begin`.
  void AddCounts(const TurnPosition& begin, const TurnPosition& end, std::span<const WireId> wires,
                 std::span<uint64_t> sums) const;
  // The same for the wires first, first + 1, …: fast if the memory is 12 bytes or both positions are in the same phase
  // of the same turn.
  void AddConsecutiveCounts(const TurnPosition& begin, const TurnPosition& end, WireId first,
                            std::span<uint64_t> sums) const;

 private:
  template <typename Word>
  struct Columns {
    std::vector<Word> rates;        // phase by phase, like the next two columns
    std::vector<uint32_t> offsets;  //
    std::vector<Word> before;       // ones of the turn before the phase
    std::vector<Word> turn_counts;  // per wire, ones per turn
  };
  using Narrow = Columns<uint32_t>;
  using Wide = Columns<uint64_t>;

  template <typename Word>
  Columns<Word> MakeColumns(std::span<const uint64_t> phase_cycles, std::span<const Pattern> patterns) const;
  bool AddFast(const TurnPosition& begin, const TurnPosition& end, WireId first, std::span<uint64_t> sums) const;
  void AddWithin(size_t column, uint64_t begin, uint64_t length, std::span<uint64_t> sums) const;
  void AddAcross(const Narrow& columns, const TurnPosition& begin, const TurnPosition& end, WireId first,
                 std::span<uint64_t> sums) const;

  size_t wire_count_;
  std::variant<Narrow, Wide> columns_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_PATTERN_TABLE_H_
