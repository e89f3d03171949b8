// SPDX-License-Identifier: Apache-2.0
//
// How often each of many wires is 1 between two places of a workload whose turns of phases repeat for ever: the
// arithmetic of workload.h, in columns so that many wires are counted at once.
//   const PatternTable table({200'000, 40'000}, patterns);          // one pattern per phase and wire, phase by phase
//   table.AddCounts({.turns = 0, .phase = 0, .cycle = 17}, {.turns = 3, .phase = 1, .cycle = 0}, wires, sums);
#ifndef SIDEBAND_SIM_WORKLOAD_PATTERN_TABLE_H_
#define SIDEBAND_SIM_WORKLOAD_PATTERN_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "sim/wires/wire_source.h"

namespace sideband::sim {

// One wire in one phase. `rate` is at most 2^32, which is in every cycle; both are in units of 2^-32.
struct Pattern {
  uint64_t rate;
  uint32_t offset;

  // In the first `cycles` cycles of a phase, at most 2^62.
  uint64_t Ones(uint64_t cycles) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(cycles) * rate + offset) >> 32);
  }
};

// A cycle as seen by every wire.
struct TurnPosition {
  uint64_t turns;
  size_t phase;
  uint64_t cycle;  // within the phase
};

// Immutable, copyable. Memory per phase and wire is 12 bytes, or 20 where a turn has 2^32 cycles or more or a wire is 1
// in every cycle of a phase.
class PatternTable {
 public:
  PatternTable() : PatternTable({}, {}) {}
  // A phase per element of `phase_cycles`, together at most 2^62; as many patterns for each.
  PatternTable(std::span<const uint64_t> phase_cycles, std::span<const Pattern> patterns);

  Pattern pattern(WireId wire, size_t phase) const;
  uint64_t CountBefore(WireId wire, const TurnPosition& position) const;
  // Adds to sums[i] the difference of CountBefore(wires[i], …) at the two positions, of which `end` is not the earlier.
  // Fast where the wires are consecutive and the memory 12 bytes, or both positions within a phase of the same turn.
  void AddCounts(const TurnPosition& begin, const TurnPosition& end, std::span<const WireId> wires,
                 std::span<uint64_t> sums) const;

 private:
  template <typename Word>
  struct Columns {
    std::vector<Word> rates;        // phase by phase, as the next two
    std::vector<uint32_t> offsets;  //
    std::vector<Word> before;       // ones of the turn before the phase
    std::vector<Word> turn_counts;  // per wire, ones of a turn
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
