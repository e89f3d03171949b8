// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_writer.h"

#include <algorithm>
#include <cstddef>

namespace sideband::sim {

TraceChunk::TraceChunk(const std::vector<const PackedWires*>& windows) {
  for (const PackedWires* window : windows) clocks_.push_back({.window = window, .before = {}});
}

uint64_t TraceChunk::CyclesBefore(size_t domain, uint64_t cycle) const {
  if (domain == 0) return cycle;
  const Clock& clock = clocks_[domain];
  if (cycle == range().begin) return clock.before_begin;
  return clock.window->range().begin + clock.before[cycle - range().begin - 1];
}

uint64_t TraceChunk::CyclesHeld(size_t domain, uint64_t /*reference_end*/) const {
  return clocks_[domain].window->range().end;
}

void TraceChunk::Begin() {
  for (size_t domain = 1; domain < clocks_.size(); ++domain) {
    Clock& clock = clocks_[domain];
    clock.before_begin = CyclesBefore(domain, range().end);
    clock.before.clear();
  }
}

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

TraceWriter::TraceWriter(const std::vector<std::vector<bool>>& pulses, uint64_t chunk_cycles)
    : chunk_cycles_(chunk_cycles), domains_(MakeDomains(pulses, chunk_cycles)), chunk_(Windows(domains_)) {}

std::vector<TraceWriter::Domain> TraceWriter::MakeDomains(const std::vector<std::vector<bool>>& pulses,
                                                          uint64_t chunk_cycles) {
  // With several clocks a chunk only ends between times, so a domain may exceed its cycles by the edges of one time.
  const uint64_t slack = pulses.size() > 1 ? kEdgesPerTimeMax : 0;
  std::vector<Domain> domains;
  for (const std::vector<bool>& wires : pulses) domains.push_back({.writer = ChunkWriter(wires, chunk_cycles + slack)});
  return domains;
}

std::vector<const PackedWires*> TraceWriter::Windows(const std::vector<Domain>& domains) {
  std::vector<const PackedWires*> windows;
  for (const Domain& domain : domains) windows.push_back(&domain.writer.window());
  return windows;
}

bool TraceWriter::Tick(size_t index) {
  Domain& domain = domains_[index];
  // With one clock there is no order between clocks, so a chunk may end between edges of the same time.
  if (domains_.size() == 1) {
    ++domain.cycles;
    full_ = domain.in_chunk() == chunk_cycles_;
    return true;
  }
  if (domain.cycles - domain.time_begin == kEdgesPerTimeMax) return false;
  ++domain.cycles;
  return true;
}

void TraceWriter::TimePasses() {
  if (domains_.size() == 1) return;
  for (size_t i = 0; i < domains_.size(); ++i) {
    Domain& domain = domains_[i];
    if (i > 0) chunk_.Place(i, domains_[0].in_chunk(), domain.in_chunk());
    domain.time_begin = domain.cycles;
    full_ = full_ || domain.in_chunk() >= chunk_cycles_;
  }
}

bool TraceWriter::empty() const {
  return std::all_of(domains_.begin(), domains_.end(), [](const Domain& domain) { return domain.in_chunk() == 0; });
}

const TraceChunk& TraceWriter::Finish() {
  for (Domain& domain : domains_) domain.writer.Finish(domain.cycles);
  return chunk_;
}

void TraceWriter::Begin() {
  chunk_.Begin();
  for (Domain& domain : domains_) {
    domain.writer.Begin();
    domain.chunk_begin = domain.cycles;
  }
  full_ = false;
}

}  // namespace sideband::sim
