// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_wires.h"

#include <bit>

namespace sideband::sim {

void LoopedWires::Append(const PackedWires& window) {
  const uint64_t end = length_ + window.range().size();
  while (blocks_.size() * kBlockCycles < end) blocks_.emplace_back(size_t{wire_count_} * kBlockWords);
  // The window begins at the end of the previous window, possibly within a word, and then contains the whole word.
  const uint64_t first = length_ / 64 * 64;
  for (WireId wire = 0; wire < wire_count_; ++wire) {
    for (uint64_t cycle = first; cycle < end; cycle += 64) {
      WordAt(wire, cycle).bits |= window.words(wire)[(cycle - first) / 64];
    }
  }
  length_ = end;
}

void LoopedWires::Close(uint64_t length) {
  length_ = length;
  for (uint64_t cycle = 0; cycle < length; cycle += 64) {
    const uint64_t kept = length - cycle < 64 ? (uint64_t{1} << (length - cycle)) - 1 : ~uint64_t{0};
    for (WireId wire = 0; wire < wire_count_; ++wire) {
      RankedWord& word = WordAt(wire, cycle);
      word.bits &= kept;
      word.rank = totals_[wire];
      totals_[wire] += static_cast<uint64_t>(std::popcount(word.bits));
    }
  }
}

uint64_t LoopedWires::Rank(WireId wire, uint64_t cycle) const {
  const RankedWord& word = blocks_[cycle / kBlockCycles][wire * kBlockWords + cycle % kBlockCycles / 64];
  const uint64_t below = (uint64_t{1} << cycle % 64) - 1;
  return word.rank + static_cast<uint64_t>(std::popcount(word.bits & below));
}

void LoopedWires::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  if (length_ == 0) return;
  // Only the position within a turn matters; whole turns add the totals.
  const uint64_t turns = range.end / length_ - range.begin / length_;
  const uint64_t begin = range.begin % length_;
  const uint64_t end = range.end % length_;
  for (size_t i = 0; i < wires.size(); ++i) {
    const WireId wire = wires[i];
    sums[i] += turns * totals_[wire] + Rank(wire, end) - Rank(wire, begin);
  }
}

}  // namespace sideband::sim
