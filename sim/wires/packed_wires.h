// SPDX-License-Identifier: Apache-2.0
//
// A window of consecutive cycles with one bit per wire per cycle, 64 cycles a word, counted by population count; and,
// where asked for, a history of some cycles before it.
//   PackedWires window(wire_count, 4096, /*history=*/1024);
//   window.Reset(8192);                  // empty: [8192, 8192)
//   window.ExtendTo(8200);               // [8192, 8200), all bits 0
//   window.SetRun(wire, {8193, 8196});
//   window.Slide();                      // [8200, 8200); its bits are history and count on
//   window.AddCounts({8192, 8200}, wires, sums);
#ifndef SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
#define SIDEBAND_SIM_WIRES_PACKED_WIRES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/popcount.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Memory is wires × (capacity + history + at most 640) / 8 bytes, allocated once. Not thread-safe; counting alone may
// be done from many threads.
class PackedWires final : public WireSource {
 public:
  // An empty window at cycle 0. `capacity` is in cycles and rounded up to a multiple of 64; `history` is how many
  // cycles before the window stay countable. All paths count the same; `path` must be a supported one.
  PackedWires(uint32_t wire_count, uint64_t capacity, uint64_t history = 0, PopcountPath path = FastestPath());

  // Empties the window, which then starts at cycle `begin`, and clears every bit, the history's too.
  void Reset(uint64_t begin);
  // Starts the window that follows this one, empty. The last `history` cycles go on counting; bits that were set at or
  // after the old window's end stay set.
  void Slide();
  // Lets the window end at `end`: not before its end until now, and at most begin + capacity().
  void ExtendTo(uint64_t end) { range_.end = end; }

  // Bits may be set anywhere from the window's begin to below begin + capacity(); those not below the window's end
  // count once it extends over them.
  void Set(WireId wire, uint64_t cycle) { SetRun(wire, {cycle, cycle + 1}); }
  void SetRun(WireId wire, CycleRange run);

  // `cycle` must be of the window or of the history.
  bool Bit(WireId wire, uint64_t cycle) const;
  // The wire's bits, the window's first cycle in bit begin % 64 of the first word: bit 0 where windows begin at
  // multiples of 64. As many words as capacity() cycles from there on lie in; bits of the first word below the window's
  // begin are the history's.
  std::span<const uint64_t> words(WireId wire) const;

  const CycleRange& range() const { return range_; }
  uint32_t wire_count() const { return wire_count_; }
  uint64_t capacity() const { return capacity_; }

  // Cycles outside the window and its history count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  // Rows start where vectors do, so that they are read without crossing cache lines.
  struct alignas(64) Line {
    std::array<uint64_t, 8> words{};
  };

  uint64_t history_begin() const { return range_.begin - std::min(range_.begin, history_); }
  uint64_t StorageBegin() const { return history_begin() / 64 * 64; }
  const uint64_t* row(WireId wire) const { return lines_.data()->words.data() + wire * stride_; }
  uint64_t* row(WireId wire) { return lines_.data()->words.data() + wire * stride_; }

  // Constant after construction.
  const uint32_t wire_count_;
  const uint64_t capacity_;
  const uint64_t history_;
  const PopcountPath path_;
  const size_t stride_;  // words of a row

  CycleRange range_{0, 0};
  uint64_t storage_begin_ = 0;  // the cycle of each row's first bit, a multiple of 64
  std::vector<Line> lines_;     // wire by wire
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
