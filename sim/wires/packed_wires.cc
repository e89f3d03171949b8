// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/packed_wires.h"

#include <algorithm>
#include <bit>

namespace sideband::sim {
namespace {

// The bits of a word below `bit`, which is at most 63.
uint64_t Below(uint64_t bit) { return (uint64_t{1} << bit) - 1; }

// Ones among bits [begin, end) of a string of words; begin < end.
uint64_t CountOnes(const uint64_t* words, uint64_t begin, uint64_t end) {
  const uint64_t first = begin / 64;
  const uint64_t last = end / 64;
  const uint64_t head = words[first] & ~Below(begin % 64);
  if (first == last) return static_cast<uint64_t>(std::popcount(head & Below(end % 64)));
  auto count = static_cast<uint64_t>(std::popcount(head));
  for (uint64_t i = first + 1; i < last; ++i) count += static_cast<uint64_t>(std::popcount(words[i]));
  // Not read where the range ends with a word, which may be the last one there is.
  if (end % 64 != 0) count += static_cast<uint64_t>(std::popcount(words[last] & Below(end % 64)));
  return count;
}

}  // namespace

PackedWires::PackedWires(uint32_t wire_count, uint64_t capacity)
    : wire_count_(wire_count), words_per_wire_((capacity + 63) / 64), words_(wire_count * words_per_wire_) {}

void PackedWires::Reset(uint64_t begin) {
  range_ = {begin, begin};
  std::fill(words_.begin(), words_.end(), 0);
}

void PackedWires::SetRun(WireId wire, CycleRange run) {
  if (run.begin >= run.end) return;
  uint64_t* const words = words_.data() + wire * words_per_wire_;
  const uint64_t begin = run.begin - range_.begin;
  const uint64_t end = run.end - range_.begin;
  const uint64_t first = begin / 64;
  const uint64_t last = end / 64;
  const uint64_t head = ~Below(begin % 64);
  if (first == last) {
    words[first] |= head & Below(end % 64);
    return;
  }
  words[first] |= head;
  std::fill(words + first + 1, words + last, ~uint64_t{0});
  if (end % 64 != 0) words[last] |= Below(end % 64);
}

bool PackedWires::Bit(WireId wire, uint64_t cycle) const {
  const uint64_t bit = cycle - range_.begin;
  return (words(wire)[bit / 64] >> bit % 64 & 1) != 0;
}

void PackedWires::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  const uint64_t begin = std::max(range.begin, range_.begin) - range_.begin;
  const uint64_t end = std::max(std::min(range.end, range_.end), range_.begin) - range_.begin;
  if (begin >= end) return;
  for (size_t i = 0; i < wires.size(); ++i) {
    sums[i] += CountOnes(words_.data() + wires[i] * words_per_wire_, begin, end);
  }
}

}  // namespace sideband::sim
