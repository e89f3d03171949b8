// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of a workload whose turns differ or whose phases are bursty (workload.h), in closed form. A turn is a
// sequence of pieces; each is a range of a ring, which holds the patterns of a phase.
//   const VariedTurns turns({PatternRing({{1000, 500}}, patterns)}, {{.ring = 0, .begin = 70, .cycles = 9000}}, 45);
//   turns.CountBefore(0, {.turns = 3, .phase = 0, .cycle = 17});   // phase: the piece
#ifndef SIDEBAND_SIM_WORKLOAD_VARIED_TURNS_H_
#define SIDEBAND_SIM_WORKLOAD_VARIED_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/wire_source.h"
#include "sim/workload/pattern_table.h"

namespace sideband::sim {

// Segments that repeat forever. Immutable, copyable.
class PatternRing {
 public:
  // As for PatternTable, with segments in place of phases; at least one segment.
  PatternRing(std::span<const uint64_t> segment_cycles, std::span<const Pattern> patterns);

  uint64_t cycles() const { return begins_.back(); }
  // The ones in the first `cycle` cycles.
  uint64_t CountBefore(WireId wire, uint64_t cycle) const { return table_.CountBefore(wire, Locate(cycle)); }
  void AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const;
  bool Bit(WireId wire, uint64_t cycle) const;

 private:
  TurnPosition Locate(uint64_t cycle) const { return LocateCycle(begins_, cycle); }

  std::vector<uint64_t> begins_;  // the last element is the length of the ring
  PatternTable table_;
};

// The cycles [begin, begin + cycles) of a ring.
struct TurnPiece {
  size_t ring;
  uint64_t begin;
  uint64_t cycles;
};

// Immutable, copyable. Positions name a piece as their phase. Memory per piece and wire is 8 bytes, beside the rings'.
class VariedTurns {
 public:
  // All rings have `wires` wires.
  VariedTurns(std::vector<PatternRing> rings, std::vector<TurnPiece> pieces, uint32_t wires);

  uint64_t CountBefore(WireId wire, const TurnPosition& position) const;
  bool Bit(WireId wire, const TurnPosition& position) const;
  // Adds the counts of the wires first, first + 1, … between two positions; `end` must not be before `begin`.
  void AddConsecutiveCounts(const TurnPosition& begin, const TurnPosition& end, WireId first,
                            std::span<uint64_t> sums) const;

 private:
  const PatternRing& RingOf(const TurnPosition& position) const { return rings_[pieces_[position.phase].ring]; }
  uint64_t Before(size_t piece, WireId wire) const { return before_[piece * wires_ + wire]; }

  std::vector<PatternRing> rings_;
  std::vector<TurnPiece> pieces_;
  size_t wires_;
  std::vector<uint64_t> before_;  // piece by piece, the ones of the turn before it; the last row is the whole turn
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_VARIED_TURNS_H_
