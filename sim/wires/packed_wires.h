// SPDX-License-Identifier: Apache-2.0
//
// A window of consecutive cycles with one bit per wire per cycle, 64 cycles a word, counted by population count.
//   PackedWires window(wire_count, 4096);
//   window.Reset(8192);                  // empty: [8192, 8192)
//   window.ExtendTo(8200);               // [8192, 8200), all bits 0
//   window.SetRun(wire, {8193, 8196});
//   window.AddCounts({8192, 8200}, wires, sums);
#ifndef SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
#define SIDEBAND_SIM_WIRES_PACKED_WIRES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Memory is wires × capacity / 8 bytes, allocated once. Not thread-safe; counting alone may be done from many threads.
class PackedWires final : public WireSource {
 public:
  // An empty window at cycle 0. `capacity` is in cycles and rounded up to a multiple of 64.
  PackedWires(uint32_t wire_count, uint64_t capacity);

  // Empties the window, which then starts at cycle `begin`, and clears every bit.
  void Reset(uint64_t begin);
  // Lets the window end at `end`: not before its end until now, and at most begin + capacity().
  void ExtendTo(uint64_t end) { range_.end = end; }

  // Bits may be set anywhere below begin + capacity(); those not below the window's end count once it extends over
  // them.
  void Set(WireId wire, uint64_t cycle) { SetRun(wire, {cycle, cycle + 1}); }
  void SetRun(WireId wire, CycleRange run);

  bool Bit(WireId wire, uint64_t cycle) const;
  // The wire's bits, the window's first cycle in bit 0 of the first word; capacity() / 64 words.
  std::span<const uint64_t> words(WireId wire) const {
    return {words_.data() + wire * words_per_wire_, words_per_wire_};
  }

  const CycleRange& range() const { return range_; }
  uint32_t wire_count() const { return wire_count_; }
  uint64_t capacity() const { return words_per_wire_ * 64; }

  // Cycles outside the window count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  const uint32_t wire_count_;
  const size_t words_per_wire_;
  CycleRange range_{0, 0};
  std::vector<uint64_t> words_;  // wire by wire
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WIRES_PACKED_WIRES_H_
