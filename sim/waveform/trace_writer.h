// SPDX-License-Identifier: Apache-2.0
//
// Turns the edges of clocks and the changes of wires, in the order of their times, into chunks of a trace.
//   TraceWriter writer({{false}, {false, true}}, 4096);   // two domains, one of them with a wire of pulses
//   writer.Tick(1);                                       // a rising edge of the second clock
//   writer.Set(1, 0, true);                               // wire 0 of that domain is 1 from its next cycle on
//   writer.TimePasses();
//   if (writer.full()) { Use(writer.Finish()); writer.Begin(); }
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_WRITER_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/waveform/chunk_writer.h"
#include "sim/waveform/trace_chunk.h"

namespace sideband::sim {

// Not thread-safe.
class TraceWriter {
 public:
  // Rising edges that a clock may have at one time where there are several clocks. A chunk then ends only between
  // times: the order of edges at one time means nothing.
  static constexpr uint64_t kEdgesPerTimeMax = 64;

  // Per domain, which of its wires are pulses (chunk_writer.h). `chunk_cycles` must be a multiple of 64.
  TraceWriter(const std::vector<std::vector<bool>>& pulses, uint64_t chunk_cycles);

  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // The wire's level from the domain's next cycle on.
  void Set(size_t domain, WireId wire, bool level) {
    domains_[domain].writer.Set(wire, level, domains_[domain].cycles);
  }
  // A cycle of the domain. False, and nothing is done, if there have been kEdgesPerTimeMax at this time. Must not be
  // called when the chunk is full.
  bool Tick(size_t domain);
  // What comes now is later than what came before.
  void TimePasses();

  // With one clock as soon as the chunk has its cycles; with several when some domain has them and time has passed.
  bool full() const { return full_; }
  // No domain has a cycle in the chunk.
  bool empty() const;
  uint64_t cycles(size_t domain) const { return domains_[domain].cycles; }

  // The chunk from the end of the one before, valid until Begin. Time must have passed since the last Tick.
  const TraceChunk& Finish();
  // Starts the chunk that follows the finished one.
  void Begin();

 private:
  struct Domain {
    ChunkWriter writer;
    uint64_t cycles = 0;
    uint64_t chunk_begin = 0;
    uint64_t time_begin = 0;  // cycles when time passed last

    uint64_t in_chunk() const { return cycles - chunk_begin; }
  };

  static std::vector<Domain> MakeDomains(const std::vector<std::vector<bool>>& pulses, uint64_t chunk_cycles);
  static std::vector<const PackedWires*> Windows(const std::vector<Domain>& domains);

  const uint64_t chunk_cycles_;
  std::vector<Domain> domains_;
  TraceChunk chunk_;
  bool full_ = false;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_WRITER_H_
