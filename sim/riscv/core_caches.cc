// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/core_caches.h"

#include <algorithm>
#include <bit>

#include "sim/riscv/core_loop.h"

namespace sideband::riscv {

template Pause Core::Advance(CoreCaches& timing, uint64_t end);

CoreCaches::CoreCaches(const MachineShape& shape, uint32_t core)
    : line_shift_(std::countr_zero(shape.line_bytes)),
      fetch_shift_(line_shift_ - 2),
      first_line_(core * (shape.memory_bytes >> line_shift_)),
      memory_lines_(shape.memory_bytes >> line_shift_),
      hop_cycles_(shape.hop_cycles),
      l1i_(shape.l1i, shape.line_bytes),
      l1d_(shape.l1d, shape.line_bytes) {}

void CoreCaches::Record(sim::PackedWires* wires, sim::WireId first) {
  wires_ = wires;
  first_wire_ = first;
}

void CoreCaches::Set(CoreEvent event, sim::CycleRange run) {
  if (wires_ != nullptr) wires_->SetRun(first_wire_ + Index(event), run);
}

void CoreCaches::Request(uint64_t line, bool write, uint64_t cycle) {
  queue_[requests_++] = {.cycle = cycle + hop_cycles_, .line = first_line_ + line, .write = write};
}

bool CoreCaches::FetchLine(uint64_t line, uint64_t cycle) {
  // A program that runs off the memory's end: the core finds no instruction there, and nothing is fetched.
  if (line >= memory_lines_) return true;
  fetched_line_ = line;
  if (l1i_.Access(line, /*write=*/false).hit) return true;
  ++l1i_counts_.reads;
  ++l1i_counts_.read_misses;
  Set(CoreEvent::kL1iRead, {cycle, cycle + 1});
  Set(CoreEvent::kL1iReadMiss, {cycle, cycle + 1});
  Request(line, /*write=*/false, cycle);
  is_fetch_ = true;
  return false;
}

bool CoreCaches::MissData(uint64_t line, const Cache::Outcome& outcome, uint64_t cycle) {
  if (outcome.written_back) Request(*outcome.written_back, /*write=*/true, cycle);
  Request(line, /*write=*/false, cycle);
  is_fetch_ = false;
  return false;
}

void CoreCaches::SetDataWires(bool write, const Cache::Outcome& outcome, uint64_t cycle) {
  wires_->Set(first_wire_ + Index(write ? CoreEvent::kL1dWrite : CoreEvent::kL1dRead), cycle);
  if (outcome.hit) return;
  wires_->Set(first_wire_ + Index(write ? CoreEvent::kL1dWriteMiss : CoreEvent::kL1dReadMiss), cycle);
  if (outcome.written_back) wires_->Set(first_wire_ + Index(CoreEvent::kL1dWriteback), cycle);
}

std::optional<uint64_t> CoreCaches::Served(const SharedCache::Service& service) {
  if (++next_ < requests_) {
    // The core sends one request at a time.
    queue_[next_].cycle = std::max(queue_[next_].cycle, service.cycle + 1);
    return std::nullopt;
  }
  next_ = requests_ = 0;
  is_fetched_ = is_fetch_;
  return service.ready;
}

// The fetch of the first instruction may have been counted when its line was absent.
void CoreCaches::CountFetches(uint64_t begin, uint64_t end) {
  if (begin == end) return;
  if (is_fetched_) ++begin;
  is_fetched_ = false;
  l1i_counts_.reads += end - begin;
  Set(CoreEvent::kL1iRead, {begin, end});
}

void CoreCaches::Ran(uint64_t begin, uint64_t end) {
  CountFetches(begin, end);
  Set(CoreEvent::kInstructions, {begin, end});
}

bool CoreCaches::TakesPort() {
  const bool granted = port_granted_;
  port_granted_ = false;
  return granted;
}

}  // namespace sideband::riscv
