// SPDX-License-Identifier: Apache-2.0
//
// The slices' host blocks: the memory blocks of the hypervisor's work on slices without a resident
// (virtual-counters.md, "Mechanism", 5).
//   HostBlocks hosts;
//   hosts.Create(memory, /*slices=*/2, HostTime::kWithoutResident);
//   hosts.DestinationOf(1, std::nullopt);   // slice 1's host block
//   hosts.DestinationOf(1, binding);        // the resident's blocks
#ifndef SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_
#define SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

// When a slice counts into its host block: in all time without a resident; or while it is bound to the block itself, as
// to a resident's, and else it is paused.
enum class HostTime : uint8_t { kWithoutResident, kWhileBound };

// Not thread-safe.
class HostBlocks {
 public:
  // Creates the blocks (VM 0, context = slice). To be called once; without it there are none.
  void Create(MemoryBlocks& memory, uint32_t slices, HostTime time);

  // Whether a slice counts that nothing is bound to.
  bool counts_idle() const { return !blocks_.empty() && time_ == HostTime::kWithoutResident; }
  BlockId of(uint8_t slice) const { return blocks_[slice]; }
  // Where the counts of a slice go that is bound like this; nullopt: nowhere.
  std::optional<Binding> DestinationOf(uint8_t slice, const std::optional<Binding>& bound) const;
  // Whether a slice that is bound like this has a resident.
  bool HasResident(const std::optional<Binding>& bound) const;
  // A host block is active while its slice has no resident.
  void ShowState(uint8_t slice, const std::optional<Binding>& bound, MemoryBlocks& memory) const;

 private:
  HostTime time_ = HostTime::kWithoutResident;
  std::vector<BlockId> blocks_;  // per slice, or none
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_HOST_BLOCKS_H_
