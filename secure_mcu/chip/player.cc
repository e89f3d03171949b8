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
  for (; next_of_host_ < cycle; next_of_host_ = host_.NextChange(next_of_host_)) {
    const bool is_host = host_.IsHost(next_of_host_);
    for (uint8_t slice = 0; slice < sources_.size(); ++slice) ChangeMode({next_of_host_, slice, is_host});
  }
  for (; next_mode_ < modes_.size() && modes_[next_mode_].cycle < cycle; ++next_mode_) ChangeMode(modes_[next_mode_]);
}

void Player::ChangeMode(const ModeEvent& event) {
  if (event.is_host) {
    chip_.guests().Exit(event.slice, event.cycle);
  } else {
    chip_.guests().Enter(event.slice, event.cycle);
  }
  sim::WireSource* const source = sources_[event.slice];
  if (source != nullptr) source->SwitchMode(event.is_host, event.cycle, chip_.now());
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
