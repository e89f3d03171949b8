// SPDX-License-Identifier: Apache-2.0
//
// A chunk is a part of a trace: a window of cycles for each clock domain, and the assignment of these cycles to cycles
// of the reference clock, domain 0. The writer turns the edges of clocks and the changes of wires, in the order of
// time, into chunks.
//   TraceWriter writer({{false}, {false, true}}, 4096);   // two domains, one of them with a wire of pulses
//   writer.Tick(1);                                       // a rising edge of the second clock
//   writer.Set(1, 0, true);                               // wire 0 of that domain is 1 from its next cycle on
//   writer.TimePasses();
//   if (writer.full()) { Use(writer.Finish()); writer.Begin(); }
//   chunk.AddCounts(chunk.range(), wires, sums);          // wires of domain 0
//   const CycleRange cycles = {chunk.CyclesBefore(1, 10), chunk.CyclesBefore(1, 20)};
//   chunk.domain(1).AddCounts(cycles, wires, sums);       // while the reference ran [10, 20)
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_WRITER_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// Any number of threads may count while the chunk does not change.
class TraceChunk final : public WireSource {
 public:
  // One window per domain, all empty and at cycle 0. The windows must outlive the chunk.
  explicit TraceChunk(const std::vector<const PackedWires*>& windows);

  // Cycles of the reference clock. Empty if another domain's window filled up, or the trace ended, before a reference
  // cycle.
  const CycleRange& range() const { return clocks_[0].window->range(); }
  size_t domain_count() const { return clocks_.size(); }

  // In domain 0. Cycles outside its window count as 0.
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    clocks_[0].window->AddCounts(range, wires, sums);
  }
  const PackedWires& domain(size_t index) const override { return *clocks_[index].window; }
  // Valid from the begin of range() to its end. The result at the begin may lie before the domain's window: cycles
  // since the last reference edge were in the previous chunk.
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override;

  // For the writer of the windows. The edges of reference cycles not placed yet, up to the first `reference_cycles` of
  // the chunk, lie at or after the first `cycles` edges of the domain, and before all later edges.
  void Place(size_t domain, uint64_t reference_cycles, uint64_t cycles) {
    clocks_[domain].before.resize(reference_cycles, static_cast<uint32_t>(cycles));
  }
  // Call before the windows continue behind their ends.
  void Begin();

 private:
  struct Clock {
    const PackedWires* window;
    uint64_t before_begin = 0;     // CyclesBefore(range().begin)
    std::vector<uint32_t> before;  // per reference cycle, the domain's cycles from its window's begin to the edge
  };

  std::vector<Clock> clocks_;  // per domain; for the first only `window` is used
};

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
