// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/round_robin_timeline.h"

#include <utility>

namespace sideband::mcu {

RoundRobinTimeline::RoundRobinTimeline(std::vector<Tenant> tenants, std::vector<std::vector<size_t>> turns, Turn turn)
    : tenants_(std::move(tenants)), turn_(turn) {
  for (std::vector<size_t>& slice : turns) {
    const bool nobody = slice.empty();
    slices_.push_back({.tenants = std::move(slice), .settled = nobody});
  }
}

size_t RoundRobinTimeline::NextSlice() const {
  size_t next = slices_.size();
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i].settled) continue;
    if (next == slices_.size() || slices_[i].cycle < slices_[next].cycle) next = i;
  }
  return next;
}

std::optional<SwitchEvent> RoundRobinTimeline::Peek() const {
  const size_t next = NextSlice();
  if (next == slices_.size()) return std::nullopt;
  const Slice& slice = slices_[next];
  SwitchEvent event{.cycle = slice.cycle, .slice = static_cast<uint8_t>(next)};
  if (!slice.leaving) event.tenant = slice.tenants[slice.next_tenant];
  return event;
}

void RoundRobinTimeline::Pop() {
  const size_t next = NextSlice();
  if (next == slices_.size()) return;
  Slice& slice = slices_[next];
  if (slice.leaving) {
    slice.leaving = false;
    slice.cycle += turn_.gap;
    return;
  }
  slice.next_tenant = (slice.next_tenant + 1) % slice.tenants.size();
  slice.cycle += turn_.quantum;
  slice.leaving = turn_.gap > 0;
  slice.settled = turn_.gap == 0 && slice.tenants.size() == 1;
}

}  // namespace sideband::mcu
