// SPDX-License-Identifier: Apache-2.0
//
// Turns changes of wires into a window of packed bits. A wire is written when it changes or when the window ends, so a
// wire that keeps its level costs nothing.
//   ChunkWriter writer({false, true}, 4096);   // wire 0 as it is, wire 1 as pulses
//   writer.Set(0, true, 3);                    // 1 from cycle 3 on
//   const PackedWires& chunk = writer.Finish(4096);
#ifndef SIDEBAND_SIM_WAVEFORM_CHUNK_WRITER_H_
#define SIDEBAND_SIM_WAVEFORM_CHUNK_WRITER_H_

#include <cstdint>
#include <vector>

#include "sim/wires/packed_wires.h"

namespace sideband::sim {

// Not thread-safe.
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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_CHUNK_WRITER_H_
