// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_gate.h"

#include <utility>

namespace sideband::mcu {

CounterGate::CounterGate(std::vector<GateGroup> groups, HostControl host)
    : groups_(std::move(groups)), host_(host), gce_(host_.value) {}

void CounterGate::Enter() {
  if (in_guest_ || bound_.vm == nullptr) return;
  if (bound_.vm->host_store) bound_.vm->host_value = gce_;
  if (bound_.vm->guest_load) gce_ = bound_.vm->guest_value;
  in_guest_ = true;
}

void CounterGate::Exit() {
  if (!in_guest_) return;
  if (bound_.vm->guest_store) bound_.vm->guest_value = gce_;
  if (bound_.vm->host_load) gce_ = bound_.vm->host_value;
  in_guest_ = false;
}

void CounterGate::Bind(const GateBinding& to) {
  if (to.vm != bound_.vm || to.vm == nullptr) gce_ = host_.value;
  if (bound_.context != nullptr && bound_.context->store) bound_.context->value = cce_;
  cce_ = to.context != nullptr && to.context->load ? to.context->value : GateValue();
  bound_ = to;
}

const GateMatch& CounterGate::Match() const { return in_guest_ ? bound_.vm->match : host_.match; }

uint64_t CounterGate::Eligible() const {
  uint64_t eligible = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const GateGroup& group = groups_[g];
    const bool in_mode = in_guest_ ? group.in_guest : group.in_host;
    if (group.valid && in_mode && Match().Includes(group.identifier)) eligible |= uint64_t{1} << g;
  }
  return eligible;
}

uint64_t CounterGate::Open() const {
  uint64_t enabled = gce_.Enabled();
  if (in_guest_) enabled = bound_.vm->pinned | (enabled & cce_.Enabled() & bound_.vm->allowed);
  return Eligible() & enabled;
}

}  // namespace sideband::mcu
