// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/own_clock.h"

#include <algorithm>

namespace sideband::mcu {

void OwnClock::Change(uint64_t cycle, bool runs) {
  if (changes_.empty() || changes_.back().runs == runs) return;
  changes_.push_back({cycle, Before(cycle), runs});
}

uint64_t OwnClock::Before(uint64_t cycle) const {
  for (auto state = changes_.rbegin(); state != changes_.rend(); ++state) {
    if (state->cycle <= cycle) return state->own + (state->runs ? cycle - state->cycle : 0);
  }
  return 0;
}

uint64_t OwnClock::CycleOf(uint64_t own) const {
  if (own == kNever) return kNever;
  for (size_t i = 0; i < changes_.size(); ++i) {
    const State& state = changes_[i];
    if (state.own >= own) return state.cycle;
    if (!state.runs) continue;
    const uint64_t cycle = state.cycle + (own - state.own);
    if (i + 1 == changes_.size() || cycle <= changes_[i + 1].cycle) return cycle;
  }
  return kNever;
}

void OwnClock::Forget(uint64_t cycle) {
  while (changes_.size() > 1 && changes_[1].cycle <= cycle) changes_.pop_front();
}

}  // namespace sideband::mcu
