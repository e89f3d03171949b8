// SPDX-License-Identifier: Apache-2.0
//
// The wires of one clock domain of a trace in memory, repeated forever: cycle c is cycle c mod length(). The cost of
// counting a wire is independent of the range.
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

// Immutable once closed; then any number of threads may count.
class LoopedWires final : public WireSource {
 public:
  explicit LoopedWires(uint32_t wire_count) : wire_count_(wire_count), totals_(wire_count) {}

  // Memory for `cycles` cycles, in whole blocks: two bits per wire and cycle.
  static uint64_t Bytes(uint32_t wire_count, uint64_t cycles) {
    return RoundUp(cycles) / 64 * wire_count * sizeof(RankedWord);
  }
  static uint64_t RoundUp(uint64_t cycles) { return (cycles + kBlockCycles - 1) / kBlockCycles * kBlockCycles; }

  // Appends a window of wire_count() wires.
  void Append(const PackedWires& window);
  // Only the first `length` appended cycles are repeated.
  void Close(uint64_t length);

  uint32_t wire_count() const { return wire_count_; }
  uint64_t length() const { return length_; }

  // Any range, of any size and position. With a length of 0 all counts are 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  static constexpr uint64_t kBlockCycles = 4096;
  static constexpr size_t kBlockWords = kBlockCycles / 64;
  // 64 cycles of a wire, and the number of ones before them.
  struct RankedWord {
    uint64_t bits = 0;
    uint64_t rank = 0;
  };
  // kBlockCycles cycles of all wires, kBlockWords words per wire.
  using Block = std::vector<RankedWord>;

  RankedWord& WordAt(WireId wire, uint64_t cycle) {
    return blocks_[cycle / kBlockCycles][wire * kBlockWords + cycle % kBlockCycles / 64];
  }
  // The ones of a wire in the first `cycle` cycles; `cycle` must be below length().
  uint64_t Rank(WireId wire, uint64_t cycle) const;

  const uint32_t wire_count_;
  std::vector<Block> blocks_;
  std::vector<uint64_t> totals_;  // per wire, ones in one turn
  uint64_t length_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_LOOPED_WIRES_H_
