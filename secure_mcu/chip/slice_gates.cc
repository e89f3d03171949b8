// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/slice_gates.h"

#include <algorithm>

namespace sideband::mcu {

void GatedSlice::Attach(const sim::WireSource& source) {
  source_ = &source;
  for (size_t domain = 0; domain < gated_.size(); ++domain) gated_[domain].Attach(source, domain);
}

void GatedSlice::Set(uint64_t cycle, GatedWires::State state, uint64_t now) {
  if (source_ == nullptr) return;
  gated_[0].Set(cycle, state, now);
  for (size_t domain = 1; domain < gated_.size(); ++domain) {
    const auto own = [&](uint64_t of) { return std::max(passed_[domain], source_->CyclesBefore(domain, of)); };
    gated_[domain].Set(own(cycle), state, own(now));
  }
}

void GatedSlice::PassWithinCycle(uint64_t now) {
  for (size_t domain = 1; source_ != nullptr && domain < passed_.size(); ++domain) {
    passed_[domain] = std::max(passed_[domain], source_->CyclesHeld(domain, now));
  }
}

SliceGates::SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains) {
  if (groups.empty()) return;
  gates_.assign(slices, CounterGate(groups));
  selected_.assign(slices, ~uint64_t{0});
  wires_.assign(slices, GatedSlice(domains));
}

const sim::WireSource& SliceGates::Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now) {
  if (empty()) return wires;
  wires_[slice].Attach(wires);
  Show(slice, now);
  return wires_[slice];
}

void SliceGates::Enter(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Enter();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Exit(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Exit();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Bind(uint8_t slice, const GateBinding& to, uint64_t now) {
  if (empty()) return;
  gates_[slice].Bind(to);
  Show(slice, now);
}

void SliceGates::Select(uint8_t slice, uint64_t groups) {
  if (!empty()) selected_[slice] = groups;
}

void SliceGates::ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now) {
  const uint64_t open = gates_[slice].Open() & selected_[slice];
  wires_[slice].Set(cycle, {.open = open, .is_host = !gates_[slice].in_guest()}, now);
}

void SliceGates::PassWithinCycle(uint8_t slice, uint64_t now) {
  if (!empty()) wires_[slice].PassWithinCycle(now);
}

}  // namespace sideband::mcu
