// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_trace.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {

absl::StatusOr<std::unique_ptr<LoopedTrace>> LoopedTrace::Load(TraceReader& reader, uint64_t memory_bytes_max) {
  std::unique_ptr<LoopedTrace> trace(new LoopedTrace(reader.event_wires()));
  const uint64_t block_bytes = uint64_t{reader.wire_count()} * kBlockWords * sizeof(RankedWord);
  for (;;) {
    SIDEBAND_ASSIGN_OR_RETURN(const PackedWires* chunk, reader.Next());
    if (chunk == nullptr) break;
    const uint64_t blocks = trace->blocks_.size() + 1;
    if (blocks * block_bytes > memory_bytes_max) {
      return absl::OutOfRangeError(absl::StrCat(reader.path(), ": too long to loop in memory: ", reader.wire_count(),
                                                " wires x ", blocks * TraceReader::kChunkCycles,
                                                " cycles x 2 bits are ", blocks * block_bytes, " bytes, the limit is ",
                                                memory_bytes_max));
    }
    trace->Append(*chunk);
  }
  if (trace->length_ == 0) {
    return absl::InvalidArgumentError(absl::StrCat(reader.path(), ": the trace has no clock cycle to loop"));
  }
  return trace;
}

void LoopedTrace::Append(const PackedWires& chunk) {
  Block& block = blocks_.emplace_back();
  block.reserve(uint64_t{wire_count()} * kBlockWords);
  for (WireId wire = 0; wire < wire_count(); ++wire) {
    for (const uint64_t bits : chunk.words(wire)) {
      block.push_back({bits, totals_[wire]});
      totals_[wire] += static_cast<uint64_t>(std::popcount(bits));
    }
  }
  length_ = chunk.range().end;
}

uint64_t LoopedTrace::Rank(WireId wire, uint64_t cycle) const {
  const Block& block = blocks_[cycle / TraceReader::kChunkCycles];
  const RankedWord& word = block[wire * kBlockWords + cycle % TraceReader::kChunkCycles / 64];
  const uint64_t below = (uint64_t{1} << cycle % 64) - 1;
  return word.rank + static_cast<uint64_t>(std::popcount(word.bits & below));
}

void LoopedTrace::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  const uint64_t turns = range.end / length_ - range.begin / length_;
  const uint64_t begin = range.begin % length_;
  const uint64_t end = range.end % length_;
  for (size_t i = 0; i < wires.size(); ++i) {
    const WireId wire = wires[i];
    sums[i] += turns * totals_[wire] + Rank(wire, end) - Rank(wire, begin);
  }
}

}  // namespace sideband::sim
