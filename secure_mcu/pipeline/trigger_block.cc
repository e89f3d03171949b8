// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/trigger_block.h"

#include <limits>

namespace sideband::mcu {

uint32_t TriggerBlock::Fire(TriggerKind kind) {
  ++fired_[kind];
  // Numbers are visible to every tenant: a threshold takes none, which would show how fast another context counts.
  return kind == TriggerKind::kThreshold ? last_id_ : ++last_id_;
}

uint64_t TriggerBlock::fired(TriggerKind kind) const {
  const auto found = fired_.find(kind);
  return found == fired_.end() ? 0 : found->second;
}

uint64_t TriggerBlock::next_periodic() const {
  return period_ == 0 ? std::numeric_limits<uint64_t>::max() : next_periodic_;
}

void TriggerBlock::PassPeriodic(uint64_t cycle) {
  // On the fixed grid, however late this trigger is.
  if (period_ != 0 && cycle >= next_periodic_) next_periodic_ = (cycle / period_ + 1) * period_;
}

}  // namespace sideband::mcu
