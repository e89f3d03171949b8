// SPDX-License-Identifier: Apache-2.0
//
// The wires of one clock domain of a trace in memory, repeated for ever: cycle c is cycle c mod length(). Counting a
// wire costs the same for any range.
//   LoopedWires wires(2);
//   wires.Append(window);       // as often as there are windows
//   wires.Close(length);
//   wires.AddCounts({0, 10 * length}, ids, sums);
#ifndef SIDEBAND_SIM_WAVEFORM_LOOPED_WIRES_H_
#define SIDEBAND_SIM_WAVEFORM_LOOPED_WIRES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Immutable once closed; counting may then be done from many threads.
class LoopedWires final : public WireSource {
 public:
  explicit LoopedWires(uint32_t wire_count) : wire_count_(wire_count), totals_(wire_count) {}

  // Memory for so many cycles, in whole blocks: two bits per wire and cycle.
  static uint64_t Bytes(uint32_t wire_count, uint64_t cycles) {
    return RoundUp(cycles) / 64 * wire_count * sizeof(RankedWord);
  }
  static uint64_t RoundUp(uint64_t cycles) { return (cycles + kBlockCycles - 1) / kBlockCycles * kBlockCycles; }

  // The whole window, of wire_count() wires, follows what has been appended before.
  void Append(const PackedWires& window);
  // Only the first `length` cycles of what has been appended are repeated.
  void Close(uint64_t length);

  uint32_t wire_count() const { return wire_count_; }
  uint64_t length() const { return length_; }

  // Any range; its cycles may be as large as they like. With a length of 0 there is nothing to count.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  static constexpr uint64_t kBlockCycles = 4096;
  static constexpr size_t kBlockWords = kBlockCycles / 64;
  // 64 cycles of a wire, and how often it was 1 before them.
  struct RankedWord {
    uint64_t bits = 0;
    uint64_t rank = 0;
  };
  // kBlockCycles cycles of every wire, kBlockWords words a wire.
  using Block = std::vector<RankedWord>;

  RankedWord& WordAt(WireId wire, uint64_t cycle) {
    return blocks_[cycle / kBlockCycles][wire * kBlockWords + cycle % kBlockCycles / 64];
  }
  // Ones of a wire in the first `cycle` cycles; `cycle` is below length().
  uint64_t Rank(WireId wire, uint64_t cycle) const;

  const uint32_t wire_count_;
  std::vector<Block> blocks_;
  std::vector<uint64_t> totals_;  // per wire, ones in one turn
  uint64_t length_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_LOOPED_WIRES_H_
