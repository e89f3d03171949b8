// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/cache.h"

#include <algorithm>

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

}  // namespace sideband::riscv
