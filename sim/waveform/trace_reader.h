// SPDX-License-Identifier: Apache-2.0
//
// Reads a VCD waveform (trace_file.h) as a stream of chunks of packed wires, in constant memory for any length. The
// cost per cycle is proportional to the number of changes.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open("t.vcd.gz", map));
//   for (;;) {
//     SIDEBAND_ASSIGN_OR_RETURN(const TraceChunk* chunk, reader->Next());
//     if (chunk == nullptr) break;
//     chunk->AddCounts(chunk->range(), wires, sums);
//   }
//
// Time. Cycle k of a clock domain is the k-th rising edge of its clock: a change to 1 from 0, x or z. The first value
// of a clock is not an edge. A signal's value in cycle k is its value before that edge: every change with the edge's
// time stamp counts from cycle k+1, regardless of the order in the file. Changes before the first time stamp are
// initial values. x and z count as 0, so a signal without a value is 0. Domain 0 is that of the map's clock, the
// reference; other clocks of events follow in the order of appearance.
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/event_binding.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_state.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_body.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {

// Every error is one line "FILE:LINE: description", at the line of the trace, or of the signal map for an event that
// the trace does not support. Not thread-safe.
class TraceReader {
 public:
  // The number of cycles of a chunk: few for many wires, to bound the memory, and many for few wires, since each chunk
  // has a fixed cost. A multiple of 4096.
  static uint64_t ChunkCycles(uint32_t wires);

  // Reads the header and binds the events to signals; the map need not outlive the call. `filters` say whose the
  // requests of events with a requester are.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path, const SignalMap& map,
                                                           const TagFilters& filters = {});

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // The wires of event i of the map, valid as long as the reader lives. Those of an event with a requester are there
  // for each slice of the filters, then for unattributed requests (TaggedProbe).
  std::span<const EventWire> wires(size_t event) const { return event_wires_.wires(event); }
  const EventWires& event_wires() const { return event_wires_; }

  // Returns the next chunk, or null after the last. With a single clock a chunk has ChunkCycles(all wires) cycles, the
  // last chunk possibly fewer. With several clocks some domain has about as many, and the others have their cycles of
  // the same time. The reader owns the chunk, which is valid until the next call. After an error every call returns the
  // same error.
  absl::StatusOr<const TraceChunk*> Next();

  // Cycles of domain 0 so far; after Next() has returned null, those of the whole trace.
  uint64_t cycles() const { return state_.writer().cycles(0); }
  // The same for the clock of any domain (event_wires()).
  uint64_t cycles(size_t domain) const { return state_.writer().cycles(domain); }
  const std::string& path() const { return lexer_->path(); }
  // "FILE:LINE: description", one line each: events that can only count 0, at the line of the signal map; after Next()
  // has returned null, also a trace that ends within a line.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The parts of the trace so far without values of signals.
  const std::vector<DumpGap>& gaps() const { return body_.gaps(); }

 private:
  TraceReader(std::unique_ptr<VcdLexer> lexer, VcdHeader header, EventBinding binding, const TagFilters& filters);

  void WarnOfEnd();

  // Constant after Open().
  const std::unique_ptr<VcdLexer> lexer_;
  const CodeTable codes_;
  const EventWires event_wires_;

  // The position in the trace.
  std::vector<std::string> warnings_;
  TraceState state_;
  VcdBody body_;
  absl::Status status_;
  bool at_end_ = false;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_
