// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/packed_wires.h"

namespace sideband::sim {
namespace {

constexpr size_t kLineWords = 8;

// The bits of a word below `bit`, which is at most 63.
uint64_t Below(uint64_t bit) { return (uint64_t{1} << bit) - 1; }

// The history may begin and the window may end within a word, which takes an extra word.
size_t Stride(uint64_t capacity, uint64_t history) {
  const size_t words = capacity / 64 + (history + 63) / 64 + 1;
  return (words + kLineWords - 1) / kLineWords * kLineWords;
}

}  // namespace

PackedWires::PackedWires(uint32_t wire_count, uint64_t capacity, uint64_t history, PopcountPath path)
    : wire_count_(wire_count),
      capacity_((capacity + 63) / 64 * 64),
      history_(history),
      path_(path),
      stride_(Stride(capacity_, history)),
      lines_(wire_count * stride_ / kLineWords) {}

void PackedWires::Reset(uint64_t begin) {
  range_ = {begin, begin};
  storage_begin_ = StorageBegin();
  std::fill(lines_.begin(), lines_.end(), Line{});
}

void PackedWires::Slide() {
  range_.begin = range_.end;
  const size_t forgotten = (StorageBegin() - storage_begin_) / 64;
  storage_begin_ = StorageBegin();
  for (WireId wire = 0; wire < wire_count_; ++wire) {
    uint64_t* const words = row(wire);
    // The words after the old window become those of the new window, with the bits set so far; the rest starts at 0.
    std::copy(words + forgotten, words + stride_, words);
    std::fill(words + stride_ - forgotten, words + stride_, 0);
  }
}

void PackedWires::SetRun(WireId wire, CycleRange run) {
  if (run.begin >= run.end) return;
  uint64_t* const words = row(wire);
  const uint64_t begin = run.begin - storage_begin_;
  const uint64_t end = run.end - storage_begin_;
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
  const uint64_t bit = cycle - storage_begin_;
  return (row(wire)[bit / 64] >> bit % 64 & 1) != 0;
}

std::span<const uint64_t> PackedWires::words(WireId wire) const {
  const size_t skipped = (range_.begin - storage_begin_) / 64;
  return {row(wire) + skipped, (range_.begin % 64 + capacity_ + 63) / 64};
}

void PackedWires::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  const uint64_t begin = std::max(range.begin, history_begin());
  const uint64_t end = std::min(range.end, range_.end);
  if (begin >= end) return;
  AddPopcounts(path_, {row(0), stride_}, {begin - storage_begin_, end - storage_begin_}, wires, sums);
}

}  // namespace sideband::sim
