// SPDX-License-Identifier: Apache-2.0
//
// Turns changes of wires into a window of packed bits. A wire is filled in when it changes or the window ends, so that
// a wire that keeps its level costs nothing.
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
  // One wire per element of `pulses`, each at level 0 from cycle 0 on (and before it). A pulse wire is 1 in the cycles
  // in which its level is 1 and was 0 in the cycle before. `capacity` is that of the window.
  ChunkWriter(std::vector<bool> pulses, uint64_t capacity);

  // The wire's level from `cycle` on. Cycles of one wire come in ascending order, from the window's begin on; of
  // several levels from the same cycle on the last holds.
  void Set(WireId wire, bool level, uint64_t cycle) {
    if (runs_[wire].level == level) return;
    Close(wire, cycle);
    runs_[wire].level = level;
  }

  // The window from the end of the one before (or 0) to `end`, valid until Begin.
  const PackedWires& Finish(uint64_t end);
  // Where that window is; its content is not settled before Finish.
  const PackedWires& window() const { return window_; }
  // Starts the window that follows the finished one, whose last kHistoryCycles still count.
  void Begin() { window_.Slide(); }

 private:
  // A level that lasts from `since` on, and the level in the cycle before that.
  struct Run {
    uint64_t since = 0;
    bool level = false;
    bool before = false;
    bool pulse = false;
  };

  // Fills in the cycles of the run below `end`, at which the next one starts.
  void Close(WireId wire, uint64_t end);

  std::vector<Run> runs_;  // per wire
  PackedWires window_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_CHUNK_WRITER_H_
