// SPDX-License-Identifier: Apache-2.0
//
// A whole waveform in memory, repeated forever: cycle c of the source is cycle c mod length() of the trace. The cost of
// counting a wire is independent of the range.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, map));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto source, LoopedTrace::Load(*reader));
//   source->AddCounts({0, 10 * source->length()}, wires, sums);
// A turn of another clock domain consists of the cycles that belong to the turn's reference cycles: edges after the
// last reference edge of the trace are dropped.
#ifndef SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_
#define SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/event_binding.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// The wires of one clock domain of a trace in memory, repeated forever: cycle c is cycle c mod length(). The cost of
// counting a wire is independent of the range.
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

// Immutable once loaded; any number of threads may count.
class LoopedTrace final : public WireSource {
 public:
  static constexpr uint64_t kMemoryBytesMax = uint64_t{512} << 20;

  // Reads `reader` to its end; nothing may have been read from it before. INVALID_ARGUMENT: the trace has no cycle.
  // OUT_OF_RANGE: it needs more than `memory_bytes_max` (two bits per wire and cycle, four bytes per reference cycle
  // and additional domain).
  static absl::StatusOr<std::unique_ptr<LoopedTrace>> Load(TraceReader& reader,
                                                           uint64_t memory_bytes_max = kMemoryBytesMax);

  // The events and wires are those of the reader.
  std::span<const EventWire> wires(size_t event) const { return event_wires_.wires(event); }
  const EventWires& event_wires() const { return event_wires_; }
  // Reference cycles of one turn, at least 1.
  uint64_t length() const { return domains_[0].length(); }

  // Any range of domain 0, of any size and position.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    domains_[0].AddCounts(range, wires, sums);
  }
  const WireSource& domain(size_t index) const override { return domains_[index]; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override {
    return CyclesBefore(domain, reference_end);
  }

 private:
  explicit LoopedTrace(const EventWires& event_wires);

  absl::Status CheckMemory(const TraceReader& reader, const TraceChunk& chunk, uint64_t memory_bytes_max) const;
  void Append(const TraceChunk& chunk);
  absl::Status Close(const TraceReader& reader);

  const EventWires event_wires_;
  std::vector<LoopedWires> domains_;
  std::vector<uint64_t> ends_;  // per domain, its cycles that belong to the reference cycles so far
  // Per domain except the first, and per cycle of a turn: the number of the domain's cycles that belong to earlier
  // reference cycles. 32 bits suffice, since the memory for the domain's cycles is bounded.
  std::vector<std::vector<uint32_t>> before_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_
