// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_trace.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
void LoopedWires::Append(const PackedWires& window) {
  const uint64_t end = length_ + window.range().size();
  while (blocks_.size() * kBlockCycles < end) blocks_.emplace_back(size_t{wire_count_} * kBlockWords);
  // The window begins at the end of the previous window, possibly within a word, and then contains the whole word.
  const uint64_t first = length_ / 64 * 64;
  for (WireId wire = 0; wire < wire_count_; ++wire) {
    for (uint64_t cycle = first; cycle < end; cycle += 64) {
      WordAt(wire, cycle).bits |= window.words(wire)[(cycle - first) / 64];
    }
  }
  length_ = end;
}

void LoopedWires::Close(uint64_t length) {
  length_ = length;
  for (uint64_t cycle = 0; cycle < length; cycle += 64) {
    const uint64_t kept = length - cycle < 64 ? (uint64_t{1} << (length - cycle)) - 1 : ~uint64_t{0};
    for (WireId wire = 0; wire < wire_count_; ++wire) {
      RankedWord& word = WordAt(wire, cycle);
      word.bits &= kept;
      word.rank = totals_[wire];
      totals_[wire] += static_cast<uint64_t>(std::popcount(word.bits));
    }
  }
}

uint64_t LoopedWires::Rank(WireId wire, uint64_t cycle) const {
  const RankedWord& word = blocks_[cycle / kBlockCycles][wire * kBlockWords + cycle % kBlockCycles / 64];
  const uint64_t below = (uint64_t{1} << cycle % 64) - 1;
  return word.rank + static_cast<uint64_t>(std::popcount(word.bits & below));
}

void LoopedWires::AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const {
  if (length_ == 0) return;
  // Only the position within a turn matters; whole turns add the totals.
  const uint64_t turns = range.end / length_ - range.begin / length_;
  const uint64_t begin = range.begin % length_;
  const uint64_t end = range.end % length_;
  for (size_t i = 0; i < wires.size(); ++i) {
    const WireId wire = wires[i];
    sums[i] += turns * totals_[wire] + Rank(wire, end) - Rank(wire, begin);
  }
}

absl::StatusOr<std::unique_ptr<LoopedTrace>> LoopedTrace::Load(TraceReader& reader, uint64_t memory_bytes_max) {
  std::unique_ptr<LoopedTrace> trace(new LoopedTrace(reader.event_wires()));
  for (;;) {
    SIDEBAND_ASSIGN_OR_RETURN(const TraceChunk* chunk, reader.Next());
    if (chunk == nullptr) break;
    SIDEBAND_RETURN_IF_ERROR(trace->CheckMemory(reader, *chunk, memory_bytes_max));
    trace->Append(*chunk);
  }
  SIDEBAND_RETURN_IF_ERROR(trace->Close(reader));
  return trace;
}

LoopedTrace::LoopedTrace(const EventWires& event_wires)
    : event_wires_(event_wires), ends_(event_wires.domain_count()), before_(event_wires.domain_count()) {
  for (size_t domain = 0; domain < event_wires.domain_count(); ++domain) {
    domains_.emplace_back(event_wires.wire_count(domain));
  }
}

absl::Status LoopedTrace::CheckMemory(const TraceReader& reader, const TraceChunk& chunk,
                                      uint64_t memory_bytes_max) const {
  const uint64_t cycles = LoopedWires::RoundUp(chunk.range().end);
  // Domain 0 needs no before_.
  uint64_t bytes = (domains_.size() - 1) * cycles * sizeof(uint32_t);
  for (size_t i = 0; i < domains_.size(); ++i) {
    bytes += LoopedWires::Bytes(domains_[i].wire_count(), chunk.domain(i).range().end);
  }
  if (bytes <= memory_bytes_max) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat(reader.path(), ": too long to loop in memory: ", event_wires_.total_wire_count(), " wires x ",
                   cycles, " cycles x 2 bits", domains_.size() > 1 ? " plus the clock positions" : "", " are ", bytes,
                   " bytes, the limit is ", memory_bytes_max));
}

void LoopedTrace::Append(const TraceChunk& chunk) {
  for (size_t domain = 0; domain < domains_.size(); ++domain) {
    domains_[domain].Append(chunk.domain(domain));
    for (uint64_t cycle = chunk.range().begin; domain > 0 && cycle < chunk.range().end; ++cycle) {
      before_[domain].push_back(static_cast<uint32_t>(chunk.CyclesBefore(domain, cycle)));
    }
    ends_[domain] = chunk.CyclesBefore(domain, chunk.range().end);
  }
}

absl::Status LoopedTrace::Close(const TraceReader& reader) {
  for (size_t domain = 0; domain < domains_.size(); ++domain) domains_[domain].Close(ends_[domain]);
  if (length() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(reader.path(), ": the trace has no clock cycle to loop"));
}

uint64_t LoopedTrace::CyclesBefore(size_t domain, uint64_t cycle) const {
  if (domain == 0) return cycle;
  return cycle / length() * domains_[domain].length() + before_[domain][cycle % length()];
}

}  // namespace sideband::sim
