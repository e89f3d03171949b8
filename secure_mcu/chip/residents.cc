// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/residents.h"

#include <algorithm>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

void HostBlocks::Create(MemoryBlocks& memory, uint32_t slices, HostTime time) {
  time_ = time;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    blocks_.push_back(memory.Create(mailbox::kHypervisorVm, static_cast<uint16_t>(slice)));
    memory.SetActive(blocks_.back(), counts_idle());
  }
}

std::optional<Binding> HostBlocks::DestinationOf(uint8_t slice, const std::optional<Binding>& bound) const {
  if (bound || !counts_idle()) return bound;
  return Binding{.vm = of(slice), .context = {}};
}

bool HostBlocks::HasResident(const std::optional<Binding>& bound) const {
  return bound && std::ranges::find(blocks_, bound->vm) == blocks_.end();
}

void HostBlocks::ShowState(uint8_t slice, const std::optional<Binding>& bound, MemoryBlocks& memory) const {
  if (counts_idle()) memory.SetActive(of(slice), !bound);
}

bool Residents::IsOnSlice(BlockId block) const {
  return std::ranges::any_of(bound_, [block](const std::optional<Binding>& bound) {
    return bound && (bound->vm == block || bound->context == block);
  });
}

void Residents::ShowState(const std::optional<Binding>& binding, MemoryBlocks& memory) const {
  if (!binding) return;
  memory.SetActive(binding->vm, IsOnSlice(binding->vm));
  if (binding->context) memory.SetActive(*binding->context, IsOnSlice(*binding->context));
}

void Residents::ShowState(uint8_t slice, const std::optional<Binding>& from, MemoryBlocks& memory) const {
  ShowState(from, memory);
  ShowState(bound_[slice], memory);
  hosts_.ShowState(slice, bound_[slice], memory);
}

}  // namespace sideband::mcu
