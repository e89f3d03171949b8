// SPDX-License-Identifier: Apache-2.0
//
// The slices' host blocks: the memory blocks of the hypervisor's work on slices without a resident
// (virtual-counters.md, "Mechanism", 5).
//   HostBlocks hosts;
//   hosts.Create(memory, /*slices=*/2);
//   hosts.DestinationOf(1, std::nullopt);   // slice 1's host block
//   hosts.DestinationOf(1, binding);        // the resident's blocks
#ifndef SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_
#define SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

// Not thread-safe.
class HostBlocks {
 public:
  // Creates the blocks (VM 0, context = slice), active. To be called once; without it there are none.
  void Create(MemoryBlocks& memory, uint32_t slices);

  bool empty() const { return blocks_.empty(); }
  BlockId of(uint8_t slice) const { return blocks_[slice]; }
  // Where the counts of a slice go that has this resident; nullopt: nowhere.
  std::optional<Binding> DestinationOf(uint8_t slice, const std::optional<Binding>& resident) const;
  // A host block is active while its slice has no resident.
  void ShowState(uint8_t slice, const std::optional<Binding>& resident, MemoryBlocks& memory) const;

 private:
  std::vector<BlockId> blocks_;  // per slice, or none
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_
