// SPDX-License-Identifier: Apache-2.0
//
// Reads a VCD waveform, plain or gzip, as a stream of chunks of packed wires, in constant memory whatever its length.
// Cost per cycle is proportional to what changes in it.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open("t.vcd.gz", map));
//   for (;;) {
//     SIDEBAND_ASSIGN_OR_RETURN(const TraceChunk* chunk, reader->Next());
//     if (chunk == nullptr) break;
//     chunk->AddCounts(chunk->range(), wires, sums);
//   }
//
// Time. Cycle k of a clock domain is the k-th rising edge of its clock: a change to 1 from 0, x or z. A clock's very
// first value is no edge. A signal's value in cycle k is the one it held before that edge: every change stamped with
// the edge's own time counts from cycle k+1, whatever the order within the file. Changes before the first time stamp
// are initial values. x and z count as 0, so that a signal which has not been given a value yet is 0. Domain 0 is that
// of the map's clock, the reference; other clocks of events follow in the order in which they appear.
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/waveform/code_table.h"
#include "sim/waveform/event_binding.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_chunk.h"
#include "sim/waveform/trace_state.h"
#include "sim/waveform/vcd_body.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {

// Every error is one line "FILE:LINE: what is wrong", with the trace's line, or the signal map's for an event that the
// trace does not support. Not thread-safe.
class TraceReader {
 public:
  // Cycles of a chunk: with many wires few, to bound its memory, and with few many, since a chunk costs work of its
  // own. A multiple of 4096.
  static uint64_t ChunkCycles(uint32_t wires);

  // Reads the header and binds the events to signals; the map is not needed afterwards.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& path, const SignalMap& map);

  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  // The wires of event i of the map, valid as long as the reader.
  std::span<const EventWire> wires(size_t event) const { return event_wires_.wires(event); }
  const EventWires& event_wires() const { return event_wires_; }

  // The next cycles, and null after the last. With one clock these are ChunkCycles(all wires), fewer only in the last
  // chunk; with several some domain has about as many, and the others what came in the same time. The chunk is the
  // reader's and valid until the next call. After an error the same error again.
  absl::StatusOr<const TraceChunk*> Next();

  // Cycles of domain 0 so far; once Next() has returned null, those of the whole trace.
  uint64_t cycles() const { return state_.writer().cycles(0); }
  const std::string& path() const { return lexer_->path(); }

 private:
  TraceReader(std::unique_ptr<VcdLexer> lexer, VcdHeader header, EventBinding binding);

  // Constant after Open().
  const std::unique_ptr<VcdLexer> lexer_;
  const CodeTable codes_;
  const EventWires event_wires_;

  // The place in the trace.
  TraceState state_;
  VcdBody body_;
  absl::Status status_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_READER_H_
