// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/player.h"

#include <algorithm>
#include <limits>

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

void Player::ChangeMode(uint64_t cycle) {
  const bool is_host = host_.IsHost(cycle);
  for (uint8_t slice = 0; slice < sources_.size(); ++slice) {
    if (is_host) {
      chip_.Exit(slice);
    } else {
      chip_.Enter(slice);
    }
    if (sources_[slice] != nullptr) sources_[slice]->SwitchMode(is_host, cycle);
  }
  next_mode_ = host_.NextChange(cycle);
}

// At one cycle the switch comes first, so that the next resident makes the exit.
void Player::PlayTo(uint64_t cycle) {
  while (true) {
    const auto event = timeline_.Peek();
    const uint64_t next_switch = event ? event->cycle : std::numeric_limits<uint64_t>::max();
    const uint64_t next = std::min(next_switch, next_mode_);
    if (next > cycle) break;
    chip_.AdvanceTo(next);
    if (next_switch == next) {
      Make(*event);
      timeline_.Pop();
    } else {
      ChangeMode(next);
    }
  }
  chip_.AdvanceTo(cycle);
}

void Player::Vacate() {
  for (uint8_t slice = 0; slice < sources_.size(); ++slice) Make({.cycle = chip_.now(), .slice = slice});
}

}  // namespace sideband::mcu
