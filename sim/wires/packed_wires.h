// SPDX-License-Identifier: Apache-2.0
//
// A window of consecutive cycles with one bit per wire and cycle, 64 cycles per word, counted by population count with
// the widest instructions of the processor; optionally with a history of cycles before the window.
//   PackedWires window(wire_count, 4096, /*history=*/1024);
//   window.Reset(8192);                  // empty: [8192, 8192)
//   window.ExtendTo(8200);               // [8192, 8200), all bits 0
//   window.SetRun(wire, {8193, 8196});
//   window.Slide();                      // [8200, 8200); its bits are history and count on
//   window.AddCounts({8192, 8200}, wires, sums);
// The population count alone, of the same range of bits of many rows of words:
//   AddPopcounts(FastestPath(), {words.data(), stride}, {100, 1000}, rows, sums);   // sums[i] += ones of rows[i]
#ifndef SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
#define SIDEBAND_SIM_WIRES_PACKED_WIRES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Implementations, slowest first. kAvx512 requires VPOPCNTDQ.
enum class PopcountPath { kPortable, kAvx2, kAvx512 };

absl::string_view PopcountPathName(PopcountPath path);  // "portable", "avx2", "avx512"

// The implementations supported by this processor, slowest first; always includes kPortable.
std::span<const PopcountPath> SupportedPaths();
inline PopcountPath FastestPath() { return SupportedPaths().back(); }

// Row r starts at words + r × stride; bit b of a row is bit b % 64 of its word b / 64. `words` aligned to 64 bytes and
// `stride` a multiple of 8 words are faster, but not required.
struct BitRows {
  const uint64_t* words;
  size_t stride;
};

// Adds to sums[i] the ones of row rows[i] in `bits`, whose begin must not exceed its end. Reads no word outside that
// range. Both spans have the same size; `path` must be supported. All paths compute the same sums.
void AddPopcounts(PopcountPath path, BitRows words, CycleRange bits, std::span<const WireId> rows,
                  std::span<uint64_t> sums);

// Memory is wires × (capacity + history + at most 640) / 8 bytes, allocated once. Not thread-safe, but any number of
// threads may count at the same time.
class PackedWires final : public WireSource {
 public:
  // An empty window at cycle 0. `capacity` is in cycles and rounded up to a multiple of 64; `history` is the number of
  // cycles before the window that remain countable. All paths return the same counts; `path` must be supported.
  PackedWires(uint32_t wire_count, uint64_t capacity, uint64_t history = 0, PopcountPath path = FastestPath());

  // Starts an empty window at cycle `begin`, and clears all bits including the history.
  void Reset(uint64_t begin);
  // Starts an empty window after this window. The last `history` cycles remain countable; bits set at or after the old
  // window's end are kept.
  void Slide();
  // Sets the window's end to `end`: at least the current end, and at most begin + capacity().
  void ExtendTo(uint64_t end) { range_.end = end; }

  // Bits may be set from the window's begin to below begin + capacity(). Bits at or after the window's end count once
  // the window is extended over them.
  void Set(WireId wire, uint64_t cycle) { SetRun(wire, {cycle, cycle + 1}); }
  void SetRun(WireId wire, CycleRange run);

  // `cycle` must lie in the window or the history.
  bool Bit(WireId wire, uint64_t cycle) const;
  // The wire's bits. The window's first cycle is bit begin % 64 of the first word, so bit 0 if windows begin at
  // multiples of 64; lower bits of the first word belong to the history. The number of words covers capacity() cycles.
  std::span<const uint64_t> words(WireId wire) const;

  const CycleRange& range() const { return range_; }
  uint32_t wire_count() const { return wire_count_; }
  uint64_t capacity() const { return capacity_; }

  // Cycles outside the window and its history count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  // Rows are aligned to vectors, so that vectors do not cross cache lines.
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
  const size_t stride_;  // words per row

  CycleRange range_{0, 0};
  uint64_t storage_begin_ = 0;  // the cycle of each row's first bit, a multiple of 64
  std::vector<Line> lines_;     // wire by wire
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
