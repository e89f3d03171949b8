// SPDX-License-Identifier: Apache-2.0
//
// The work of a context in its own cycles, from 0: phases repeated forever, in which each wire is 1 at a steady rate.
// Any prefix is counted in closed form: the cost is independent of its length, and every count is predictable.
//   SIDEBAND_ASSIGN_OR_RETURN(const Workload work, Workload::Create({.phases = {{PhaseKind::kGemm, 200'000},
//                                                                              {PhaseKind::kAllReduce, 40'000}},
//                                                                   .seed = 7,
//                                                                   .wire_events = {"tensor_active_cycles"}}));
//   work.CumulativeCount(0, 1'000'000'000);
//
// Definition. Wire w has in phase p a rate r (the event's base rate, varied by up to 10 % by the seed) and an offset o,
// both in units of 2^-32. It is 1 in cycle n of the phase if floor((n+1)r + o) > floor(nr + o). All turns are equal.
#ifndef SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_
#define SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/pattern_table.h"
#include "sim/workload/phase.h"

namespace sideband::sim {

struct PhaseSpec {
  PhaseKind kind;
  uint64_t cycles;
};

// Immutable, copyable.
class Workload {
 public:
  static constexpr uint64_t kTurnCyclesMax = uint64_t{1} << 62;
  // The limit of phases × wires, of at most 20 bytes each.
  static constexpr size_t kTableMax = size_t{1} << 22;

  struct Options {
    std::vector<PhaseSpec> phases;         // at least one, none empty, at most kTurnCyclesMax cycles together
    uint64_t seed = 0;                     // distinguishes contexts with the same phases
    std::vector<std::string> wire_events;  // per wire, the name of its event; names may repeat
  };
  static absl::StatusOr<Workload> Create(const Options& options);

  // The number of cycles in which the wire is 1, of the context's first `cycles` cycles: exact for any number.
  uint64_t CumulativeCount(WireId wire, uint64_t cycles) const { return table_.CountBefore(wire, Locate(cycles)); }
  // Whether the wire is 1 in one cycle, by the definition; the sum over cycles equals CumulativeCount.
  bool Bit(WireId wire, uint64_t cycle) const;

  // Adds to sums[i] the count of wires[i] in `own`, a range of the context's own cycles.
  void AddCounts(CycleRange own, std::span<const WireId> wires, std::span<uint64_t> sums) const;

  // A range of own cycles as places in turns: a caller that counts many wires in one range locates it once.
  struct Located {
    TurnPosition begin;
    TurnPosition end;
  };
  Located Locate(CycleRange own) const { return {Locate(own.begin), Locate(own.end)}; }
  // Adds the counts of the wires first, first + 1, …, one per sum: much cheaper than AddCounts.
  void AddConsecutiveCounts(const Located& own, WireId first, std::span<uint64_t> sums) const {
    table_.AddConsecutiveCounts(own.begin, own.end, first, sums);
  }

  uint32_t wire_count() const { return wire_count_; }
  uint64_t turn_cycles() const { return phase_begins_.back(); }

 private:
  Workload() = default;

  TurnPosition Locate(uint64_t cycle) const;

  uint32_t wire_count_ = 0;
  std::vector<uint64_t> phase_begins_{0};  // the begin of each phase; the last element is the length of a turn
  PatternTable table_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_
