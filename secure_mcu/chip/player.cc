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

// Exits and entries stop no counting, so that they are told ahead, up to the next switch.
void Player::ChangeModesUpTo(uint64_t cycle) {
  for (; next_mode_ < cycle; next_mode_ = host_.NextChange(next_mode_)) {
    for (uint8_t slice = 0; slice < sources_.size(); ++slice) ChangeMode(slice, host_.IsHost(next_mode_));
  }
}

void Player::ChangeMode(uint8_t slice, bool is_host) {
  if (is_host) {
    chip_.Exit(slice, next_mode_);
  } else {
    chip_.Enter(slice, next_mode_);
  }
  if (sources_[slice] != nullptr) sources_[slice]->SwitchMode(is_host, next_mode_, chip_.now());
}

// At one cycle the switch comes first, so that the next resident makes the exit.
void Player::PlayTo(uint64_t cycle) {
  for (auto next = timeline_.Peek(); next && next->cycle <= cycle; next = timeline_.Peek()) {
    ChangeModesUpTo(next->cycle);
    chip_.AdvanceTo(next->cycle);
    Make(*next);
    timeline_.Pop();
  }
  ChangeModesUpTo(cycle + 1);
  chip_.AdvanceTo(cycle);
}

void Player::Vacate() {
  for (uint8_t slice = 0; slice < sources_.size(); ++slice) Make({.cycle = chip_.now(), .slice = slice});
}

}  // namespace sideband::mcu
