// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/trigger_block.h"

#include <limits>

namespace sideband::mcu {

void TriggerGrid::Pass(uint64_t cycle) {
  next_ = period_ == 0 ? std::numeric_limits<uint64_t>::max() : (cycle / period_ + 1) * period_;
}

uint32_t TriggerBlock::Fire(TriggerKind kind) {
  ++fired_[kind];
  // Numbers are visible to every tenant: a threshold takes none, which would show how fast another context counts.
  return kind == TriggerKind::kThreshold ? last_id_ : ++last_id_;
}

uint64_t TriggerBlock::fired(TriggerKind kind) const {
  const auto found = fired_.find(kind);
  return found == fired_.end() ? 0 : found->second;
}

std::optional<uint32_t> TriggerBlock::FireDue(uint64_t cycle) {
  std::optional<uint32_t> newest;
  const auto fire = [&](TriggerGrid& grid, TriggerKind kind) {
    if (cycle < grid.next()) return;
    grid.Pass(cycle);
    newest = Fire(kind);
  };
  fire(periodic_, TriggerKind::kPeriodic);
  fire(grid_, TriggerKind::kGrid);
  return newest;
}

}  // namespace sideband::mcu
