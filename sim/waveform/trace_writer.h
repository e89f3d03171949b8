// SPDX-License-Identifier: Apache-2.0
//
// Turns the edges of clocks and the changes of wires, in the order of time, into chunks of a trace.
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
  // The limit of rising edges of a clock at one time if there are several clocks. A chunk then ends only between times,
  // since edges at the same time have no order.
  static constexpr uint64_t kEdgesPerTimeMax = 64;

  // Per domain, whether each wire is a pulse wire (chunk_writer.h). `chunk_cycles` must be a multiple of 64.
  TraceWriter(const std::vector<std::vector<bool>>& pulses, uint64_t chunk_cycles);

  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Sets the wire's level from the domain's next cycle on.
  void Set(size_t domain, WireId wire, bool level) {
    domains_[domain].writer.Set(wire, level, domains_[domain].cycles);
  }
  // Adds a cycle to the domain. Returns false and does nothing if the domain already has kEdgesPerTimeMax at this time.
  // The chunk must not be full.
  bool Tick(size_t domain);
  // Separates the previous events from later events.
  void TimePasses();

  // With one clock: the chunk has its cycles. With several: some domain has its cycles, and time has passed since.
  bool full() const { return full_; }
  // Whether no domain has a cycle in the chunk.
  bool empty() const;
  uint64_t cycles(size_t domain) const { return domains_[domain].cycles; }

  // Returns the chunk since the end of the previous chunk, valid until Begin. Time must have passed since the last
  // Tick.
  const TraceChunk& Finish();
  // Starts the chunk after the finished one.
  void Begin();

 private:
  struct Domain {
    ChunkWriter writer;
    uint64_t cycles = 0;
    uint64_t chunk_begin = 0;
    uint64_t time_begin = 0;  // cycles at the last TimePasses

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
