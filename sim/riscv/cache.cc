// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/cache.h"

#include <algorithm>
#include <bit>

#include "sim/riscv/shape.h"

namespace sideband::riscv {

Cache::Cache(const CacheShape& shape, uint32_t line_bytes)
    : way_count_(shape.ways),
      set_mask_(shape.bytes / (uint64_t{line_bytes} * shape.ways) - 1),
      ways_((set_mask_ + 1) * way_count_) {}

Cache::Outcome Cache::AccessOther(uint64_t* set, uint64_t line, bool write) {
  const uint64_t wanted = line << kLineShift | kPresent;
  size_t way = 1;
  while (way < way_count_ && (set[way] & ~kModified) != wanted) ++way;
  const bool hit = way < way_count_;
  if (!hit) way = way_count_ - 1;  // the oldest leaves
  const uint64_t old = set[way];
  std::copy_backward(set, set + way, set + way + 1);
  set[0] = wanted | (hit ? old & kModified : 0) | (write ? kModified : 0);
  Outcome outcome{.hit = hit};
  if (!hit && (old & kModified) != 0) outcome.written_back = old >> kLineShift;
  return outcome;
}

bool Cache::Contains(uint64_t line) const {
  const uint64_t* const set = ways_.data() + (line & set_mask_) * way_count_;
  const uint64_t wanted = line << kLineShift | kPresent;
  return std::any_of(set, set + way_count_, [&](uint64_t way) { return (way & ~kModified) == wanted; });
}

SharedCache::SharedCache(const MachineShape& shape)
    : slice_shift_(std::countr_zero(shape.l2_slices)),
      l2_cycles_(shape.l2_cycles),
      memory_cycles_(shape.memory_cycles) {
  const CacheShape slice{.bytes = shape.l2.bytes / shape.l2_slices, .ways = shape.l2.ways};
  for (uint32_t i = 0; i < shape.l2_slices; ++i) slices_.push_back({Cache(slice, shape.line_bytes), {}});
}

void SharedCache::Record(sim::PackedWires* wires, sim::WireId first) {
  wires_ = wires;
  first_wire_ = first;
}

uint64_t SharedCache::ServiceCycle(const LineRequest& request) const {
  return std::max(request.cycle, slices_[SliceOf(request.line)].free);
}

SharedCache::Service SharedCache::Serve(const LineRequest& request) {
  const uint64_t cycle = ServiceCycle(request);
  const size_t index = SliceOf(request.line);
  Slice& slice = slices_[index];
  const Cache::Outcome outcome = slice.cache.Access(request.line >> slice_shift_, request.write);
  slice.counts.Add(request.write, outcome);
  slice.free = cycle + 1;
  if (wires_ != nullptr) SetWires(index, cycle, request.write, outcome);
  return {.cycle = cycle, .ready = cycle + l2_cycles_ + (outcome.hit ? 0 : memory_cycles_)};
}

void SharedCache::SetWires(size_t slice, uint64_t cycle, bool write, const Cache::Outcome& outcome) {
  const auto set = [&](SliceEvent event) {
    wires_->Set(first_wire_ + static_cast<sim::WireId>(slice) * kSliceEvents + Index(event), cycle);
  };
  set(write ? SliceEvent::kWrite : SliceEvent::kRead);
  if (!outcome.hit) set(write ? SliceEvent::kWriteMiss : SliceEvent::kReadMiss);
  if (outcome.written_back) set(SliceEvent::kWriteback);
}

}  // namespace sideband::riscv
