// SPDX-License-Identifier: Apache-2.0
//
// The work of a context in its own cycles, from 0: phases repeated forever, in which each wire is 1 at a steady rate,
// or in bursts. Any prefix is counted in closed form: the cost is independent of its length, and every count is
// predictable.
//   SIDEBAND_ASSIGN_OR_RETURN(const Workload work, Workload::Create({.phases = {{PhaseKind::kGemm, 200'000},
//                                                                              {PhaseKind::kAllReduce, 40'000}},
//                                                                   .seed = 7,
//                                                                   .wire_events = {"tensor_active_cycles"}}));
//   work.CumulativeCount(0, 1'000'000'000);
//
// Each kind of phase has a rate for each standard event.
//   SIDEBAND_ASSIGN_OR_RETURN(const PhaseKind kind, ParsePhaseKind("gemm"));
//   const uint64_t rate = BaseRate(kind, "tensor_active_cycles");   // Q32: 2^32 is in every cycle
//
// Definition. Wire w has in phase p a rate r (the event's base rate, varied by up to 10 % by the seed) and an offset o,
// both in units of 2^-32. It is 1 in cycle n of the phase if floor((n+1)r + o) > floor(nr + o). All turns are equal.
//
// A phase with bursts is a piece of a ring: kRingPairs times an on and an off burst, with lengths drawn evenly from the
// given ranges, repeated forever. In each burst of the ring an event's rate is r times a factor drawn evenly, from 0.25
// to 1.75 if on and from 0 to 0.25 if off (at most every cycle); wires of one event share it. Offsets are drawn per
// burst and wire, and n is the cycle of the burst. Each time the phase begins, it begins at a drawn cycle of the ring.
// With `vary_per_mille` v each phase of each turn lasts its cycles c, plus a number drawn evenly from -cv/1000 to
// cv/1000, and at least one. Such a workload, or one with bursts, repeats what was drawn after kTurns turns. All draws
// are functions of the seed.
#ifndef SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_
#define SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/pattern_table.h"

namespace sideband::sim {

enum class PhaseKind { kGemm, kAttention, kCopy, kAllReduce, kIdle, kLoad, kAssign, kUpdate };

// A rate is in units of 2^-32 per cycle; kRateOne means every cycle.
inline constexpr uint64_t kRateOne = uint64_t{1} << 32;

// Accepts "gemm", "attention", "copy", "all_reduce", "idle", and the steps of k-means: "load", "assign" and "update".
// INVALID_ARGUMENT, with the nearest of them, otherwise.
absl::StatusOr<PhaseKind> ParsePhaseKind(absl::string_view name);
absl::string_view PhaseKindName(PhaseKind kind);

// The events with rates in the table, sm_active_cycles first.
std::span<const std::string> StandardEvents();

// The share of cycles, at most kRateOne, in which the event's wire is 1. 0 for every event while idle. The rate of an
// event that is not in the table is from 1/64 to about 33/64, derived from its name and the phase's name alone (FNV-1a,
// mixed), and equal on every machine.
uint64_t BaseRate(PhaseKind kind, absl::string_view event);

// Segments that repeat forever. Immutable, copyable.
class PatternRing {
 public:
  // The arguments are those of PatternTable, with segments in place of phases; at least one segment.
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

// Lengths in cycles, both included; at least 1.
struct BurstLengths {
  uint64_t low;
  uint64_t high;
};

struct BurstSpec {
  BurstLengths on;
  BurstLengths off;
};

struct PhaseSpec {
  PhaseKind kind;
  uint64_t cycles;
  std::optional<BurstSpec> bursts = std::nullopt;  // absent: steady
};

// Immutable, copyable.
class Workload {
 public:
  static constexpr uint64_t kTurnCyclesMax = uint64_t{1} << 62;
  // The limit of phases × wires, of at most 20 bytes each; with bursts or variation, of kTurns times the phases, and
  // the bursts of the rings.
  static constexpr size_t kTableMax = size_t{1} << 22;
  static constexpr size_t kTurns = 64;
  static constexpr size_t kRingPairs = 32;
  static constexpr uint64_t kBurstCyclesMax = kTurnCyclesMax / (2 * kRingPairs);
  static constexpr uint32_t kVaryPerMilleMax = 500;

  struct Options {
    std::vector<PhaseSpec> phases;         // at least one, none empty, at most kTurnCyclesMax cycles together, or a
                                           // 128th of it with bursts or variation
    uint64_t seed = 0;                     // distinguishes contexts with the same phases
    std::vector<std::string> wire_events;  // per wire, the name of its event; names may repeat
    uint32_t vary_per_mille = 0;           // of each phase's length, at most kVaryPerMilleMax
  };
  static absl::StatusOr<Workload> Create(const Options& options);

  // The number of cycles in which the wire is 1, of the context's first `cycles` cycles: exact for any number.
  uint64_t CumulativeCount(WireId wire, uint64_t cycles) const {
    return varied_ ? varied_->CountBefore(wire, Locate(cycles)) : table_.CountBefore(wire, Locate(cycles));
  }
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
    if (varied_) {
      varied_->AddConsecutiveCounts(own.begin, own.end, first, sums);
    } else {
      table_.AddConsecutiveCounts(own.begin, own.end, first, sums);
    }
  }

  uint32_t wire_count() const { return wire_count_; }
  // After which everything repeats: the phases once, or kTurns times.
  uint64_t turn_cycles() const { return phase_begins_.back(); }

 private:
  Workload() = default;

  void DrawTurns(const Options& options);
  TurnPosition Locate(uint64_t cycle) const { return LocateCycle(phase_begins_, cycle); }

  uint32_t wire_count_ = 0;
  std::vector<uint64_t> phase_begins_{0};  // the begin of each phase; the last element is the length of a turn
  PatternTable table_;
  std::shared_ptr<const VariedTurns> varied_;  // in place of the table, with bursts or variation
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WORKLOAD_WORKLOAD_H_
