// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_trace.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {

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
