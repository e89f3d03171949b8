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

#include "sim/waveform/trace_chunk.h"
#include "sim/wires/packed_wires.h"

namespace sideband::sim {

// Turns changes of wires into a window of packed bits. A wire is written when it changes or when the window ends, so a
// wire that keeps its level costs nothing. Not thread-safe.
class ChunkWriter {
 public:
  // One wire per element of `pulses`, each at level 0 before and from cycle 0. A pulse wire is 1 in the cycles in which
  // its level is 1 and was 0 in the previous cycle. `capacity` is the window's.
  ChunkWriter(std::vector<bool> pulses, uint64_t capacity);

  // Sets the wire's level from `cycle` on. Cycles of a wire must be ascending, and not before the window's begin; of
  // several levels at the same cycle the last applies.
  void Set(WireId wire, bool level, uint64_t cycle) {
    if (runs_[wire].level == level) return;
    Close(wire, cycle);
    runs_[wire].level = level;
  }

  // Returns the window from the end of the previous window (or 0) to `end`, valid until Begin.
  const PackedWires& Finish(uint64_t end);
  // That window. Its range is current; its content is incomplete before Finish.
  const PackedWires& window() const { return window_; }
  // Starts the window after the finished one, whose last kHistoryCycles remain countable.
  void Begin() { window_.Slide(); }

 private:
  // A level that applies from `since` on, and the level in the cycle before.
  struct Run {
    uint64_t since = 0;
    bool level = false;
    bool before = false;
    bool pulse = false;
  };

  // Writes the cycles of the run below `end`, where the next run starts.
  void Close(WireId wire, uint64_t end);

  std::vector<Run> runs_;  // per wire
  PackedWires window_;
};

// Not thread-safe.
class TraceWriter {
 public:
  // The limit of rising edges of a clock at one time if there are several clocks. A chunk then ends only between times,
  // since edges at the same time have no order.
  static constexpr uint64_t kEdgesPerTimeMax = 64;

  // Per domain, whether each wire is a pulse wire (ChunkWriter). `chunk_cycles` must be a multiple of 64.
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
