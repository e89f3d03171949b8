// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/host_blocks.h"

namespace sideband::mcu {

void HostBlocks::Create(MemoryBlocks& memory, uint32_t slices) {
  for (uint32_t slice = 0; slice < slices; ++slice) {
    blocks_.push_back(memory.Create(mailbox::kHypervisorVm, static_cast<uint16_t>(slice)));
    memory.SetActive(blocks_.back(), true);
  }
}

std::optional<Binding> HostBlocks::DestinationOf(uint8_t slice, const std::optional<Binding>& resident) const {
  if (resident || empty()) return resident;
  return Binding{.vm = of(slice), .context = {}};
}

void HostBlocks::ShowState(uint8_t slice, const std::optional<Binding>& resident, MemoryBlocks& memory) const {
  if (!empty()) memory.SetActive(of(slice), !resident);
}

}  // namespace sideband::mcu
