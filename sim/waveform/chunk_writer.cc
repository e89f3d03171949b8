// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/chunk_writer.h"

#include <cstddef>

namespace sideband::sim {

ChunkWriter::ChunkWriter(std::vector<bool> pulses, uint64_t capacity)
    : runs_(pulses.size()), window_(static_cast<uint32_t>(pulses.size()), capacity, kHistoryCycles) {
  for (size_t wire = 0; wire < runs_.size(); ++wire) runs_[wire].pulse = pulses[wire];
}

void ChunkWriter::Close(WireId wire, uint64_t end) {
  Run& run = runs_[wire];
  if (run.since == end) return;  // the level never reached a cycle; `before` is unchanged
  if (run.level && !run.pulse) window_.SetRun(wire, {run.since, end});
  // A rise counts in the first cycle of its level, unless the cycle before had the level already.
  if (run.level && run.pulse && !run.before) window_.Set(wire, run.since);
  run.before = run.level;
  run.since = end;
}

const PackedWires& ChunkWriter::Finish(uint64_t end) {
  for (WireId wire = 0; wire < runs_.size(); ++wire) Close(wire, end);
  window_.ExtendTo(end);
  return window_;
}

}  // namespace sideband::sim
