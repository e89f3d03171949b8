// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/varied_turns.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sideband::sim {

PatternRing::PatternRing(std::span<const uint64_t> segment_cycles, std::span<const Pattern> patterns)
    : begins_(segment_cycles.size() + 1), table_(segment_cycles, patterns) {
  std::partial_sum(segment_cycles.begin(), segment_cycles.end(), begins_.begin() + 1);
}

void PatternRing::AddConsecutiveCounts(CycleRange range, WireId first, std::span<uint64_t> sums) const {
  table_.AddConsecutiveCounts(Locate(range.begin), Locate(range.end), first, sums);
}

bool PatternRing::Bit(WireId wire, uint64_t cycle) const {
  const TurnPosition position = Locate(cycle);
  return table_.pattern(wire, position.phase).Bit(position.cycle);
}

VariedTurns::VariedTurns(std::vector<PatternRing> rings, std::vector<TurnPiece> pieces, uint32_t wires)
    : rings_(std::move(rings)), pieces_(std::move(pieces)), wires_(wires), before_((pieces_.size() + 1) * wires_) {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const TurnPiece& piece = pieces_[i];
    const std::span<uint64_t> after(&before_[(i + 1) * wires_], wires_);
    std::copy_n(before_.begin() + static_cast<ptrdiff_t>(i * wires_), wires_, after.begin());
    rings_[piece.ring].AddConsecutiveCounts({piece.begin, piece.begin + piece.cycles}, 0, after);
  }
}

uint64_t VariedTurns::CountBefore(WireId wire, const TurnPosition& position) const {
  const PatternRing& ring = RingOf(position);
  const uint64_t begin = pieces_[position.phase].begin;
  return position.turns * Before(pieces_.size(), wire) + Before(position.phase, wire) +
         ring.CountBefore(wire, begin + position.cycle) - ring.CountBefore(wire, begin);
}

bool VariedTurns::Bit(WireId wire, const TurnPosition& position) const {
  return RingOf(position).Bit(wire, pieces_[position.phase].begin + position.cycle);
}

void VariedTurns::AddConsecutiveCounts(const TurnPosition& begin, const TurnPosition& end, WireId first,
                                       std::span<uint64_t> sums) const {
  const TurnPiece& from = pieces_[begin.phase];
  const TurnPiece& to = pieces_[end.phase];
  if (begin.turns == end.turns && begin.phase == end.phase) {
    RingOf(begin).AddConsecutiveCounts({from.begin + begin.cycle, from.begin + end.cycle}, first, sums);
    return;
  }
  // The rest of the first piece, the pieces between, and the beginning of the last one. Differences may wrap.
  RingOf(begin).AddConsecutiveCounts({from.begin + begin.cycle, from.begin + from.cycles}, first, sums);
  const uint64_t turns = end.turns - begin.turns;
  for (size_t i = 0; i < sums.size(); ++i) {
    const WireId wire = first + static_cast<WireId>(i);
    sums[i] += turns * Before(pieces_.size(), wire) + Before(end.phase, wire) - Before(begin.phase + 1, wire);
  }
  RingOf(end).AddConsecutiveCounts({to.begin, to.begin + end.cycle}, first, sums);
}

}  // namespace sideband::sim
