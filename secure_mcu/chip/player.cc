// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/player.h"

namespace sideband::mcu {

void Player::Make(const SwitchEvent& event) {
  sim::WireSource* const source = sources_[event.slice];
  if (!event.tenant) {
    chip_.SwitchTo(event.slice, std::nullopt);
    if (source != nullptr) source->SwitchOut(event.cycle);
    return;
  }
  const Tenant& tenant = timeline_.tenants()[*event.tenant];
  // The chip first: its flush still reads the wires of the tenant that leaves.
  chip_.SwitchTo(event.slice, tenant.binding);
  if (source != nullptr) source->SwitchIn(tenant.vm, tenant.context, event.cycle);
}

void Player::PlayTo(uint64_t cycle) {
  for (auto next = timeline_.Peek(); next && next->cycle <= cycle; next = timeline_.Peek()) {
    chip_.AdvanceTo(next->cycle);
    Make(*next);
    timeline_.Pop();
  }
  chip_.AdvanceTo(cycle);
}

void Player::Vacate() {
  for (uint8_t slice = 0; slice < sources_.size(); ++slice) Make({.cycle = chip_.now(), .slice = slice});
}

}  // namespace sideband::mcu
