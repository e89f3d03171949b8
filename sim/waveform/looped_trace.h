// SPDX-License-Identifier: Apache-2.0
//
// A whole waveform in memory, repeated for ever: cycle c of the source is cycle c mod length() of the trace. Counting a
// wire costs the same for any range.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, map));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto source, LoopedTrace::Load(*reader));
//   source->AddCounts({0, 10 * source->length()}, wires, sums);
#ifndef SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_
#define SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Immutable once loaded; counting may be done from many threads.
class LoopedTrace final : public WireSource {
 public:
  static constexpr uint64_t kMemoryBytesMax = uint64_t{512} << 20;

  // Reads `reader`, from which nothing may have been read, to its end. A trace without a cycle is INVALID_ARGUMENT, one
  // that needs more than `memory_bytes_max` (two bits per wire and cycle) OUT_OF_RANGE.
  static absl::StatusOr<std::unique_ptr<LoopedTrace>> Load(TraceReader& reader,
                                                           uint64_t memory_bytes_max = kMemoryBytesMax);

  // As of the reader: same events, same wires.
  std::span<const EventWire> wires(size_t event) const { return event_wires_.wires(event); }
  const EventWires& event_wires() const { return event_wires_; }
  uint32_t wire_count() const { return event_wires_.wire_count(); }
  // Cycles of one turn, at least 1.
  uint64_t length() const { return length_; }

  // Any range; its cycles may be as large as they like.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override;

 private:
  static constexpr size_t kBlockWords = TraceReader::kChunkCycles / 64;
  // 64 cycles of a wire, and how often it was 1 before them.
  struct RankedWord {
    uint64_t bits;
    uint64_t rank;
  };
  // kChunkCycles cycles of every wire, kBlockWords words a wire.
  using Block = std::vector<RankedWord>;

  explicit LoopedTrace(EventWires event_wires)
      : event_wires_(std::move(event_wires)), totals_(event_wires_.wire_count()) {}

  void Append(const PackedWires& chunk);
  // Ones of a wire in the first `cycle` cycles of the trace; `cycle` is below length().
  uint64_t Rank(WireId wire, uint64_t cycle) const;

  EventWires event_wires_;
  std::vector<Block> blocks_;
  std::vector<uint64_t> totals_;  // per wire, ones in the whole trace
  uint64_t length_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_LOOPED_TRACE_H_
