// SPDX-License-Identifier: Apache-2.0
//
// Who is on each slice of a chip: its resident, or the host block of the hypervisor's work without one; and whether the
// resident is private, so that its records stay out of the device-wide channels (virtual-counters.md, "Mechanism").
#ifndef SIDEBAND_SECURE_MCU_CHIP_RESIDENTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_RESIDENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// When a slice counts into its host block: in all time without a resident; or while it is bound to the block itself, as
// to a resident's, and else it is paused.
enum class HostTime : uint8_t { kWithoutResident, kWhileBound };

// The slices' host blocks: the memory blocks of the hypervisor's work on slices without a resident
// (virtual-counters.md, "Mechanism", 5). Not thread-safe.
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

// The slices whose resident VM is private: their records stay out of the device-wide channels, so that neither the
// device's block nor the out-of-band one has anything of such a VM. (virtual-counters.md, "Mechanism".)
// Slices are 0 to 63. Not thread-safe.
class PrivateSlices {
 public:
  // The slice's channel is bound to another resident, after all records of its last one have been routed. `is_private`
  // holds for the whole residency: a control block that changes meanwhile changes nothing.
  void Bind(uint8_t slice, bool is_private) {
    const uint64_t bit = uint64_t{1} << slice;
    slices_ = is_private ? slices_ | bit : slices_ & ~bit;
  }

  // False for kDeviceChannel.
  bool Contains(uint8_t channel) const { return channel != kDeviceChannel && (slices_ >> channel & 1) != 0; }

 private:
  uint64_t slices_ = 0;  // bit n: slice n
};

// Who is on each slice: its resident, or its host block while it counts without one; else it is paused. Slices are 0 to
// 63; a channel is a slice, or kDeviceChannel, which has no resident. Not thread-safe.
class Residents {
 public:
  explicit Residents(uint32_t slices) : bound_(slices) {}

  // Gives each slice a host block, as HostBlocks::Create.
  void CreateHosts(MemoryBlocks& memory, HostTime time) { hosts_.Create(memory, slices(), time); }
  bool counts_idle() const { return hosts_.counts_idle(); }
  BlockId host_block(uint8_t slice) const { return hosts_.of(slice); }
  uint32_t slices() const { return static_cast<uint32_t>(bound_.size()); }

  // Binds the slice, as PrivateSlices::Bind does.
  void Bind(uint8_t slice, const std::optional<Binding>& to, bool is_private) {
    bound_[slice] = to;
    private_.Bind(slice, is_private);
  }
  // The resident, or the host block with HostTime::kWhileBound; nullopt: none.
  const std::optional<Binding>& of(uint8_t slice) const { return bound_[slice]; }
  // Where the slice's counts go; nullopt: nowhere.
  std::optional<Binding> DestinationOf(uint8_t slice) const { return hosts_.DestinationOf(slice, bound_[slice]); }
  bool HasResident(uint8_t slice) const { return hosts_.HasResident(bound_[slice]); }
  // Whether a slice has the block, of a VM or a context.
  bool IsOnSlice(BlockId block) const;
  // Triggers of a paused slice are paused, too.
  bool IsCounting(uint8_t channel) const {
    return channel == kDeviceChannel || bound_[channel].has_value() || hosts_.counts_idle();
  }
  bool IsPrivate(uint8_t channel) const { return private_.Contains(channel); }
  // Shows in memory which blocks are active, after `from` has left the slice.
  void ShowState(uint8_t slice, const std::optional<Binding>& from, MemoryBlocks& memory) const;

 private:
  void ShowState(const std::optional<Binding>& binding, MemoryBlocks& memory) const;

  HostBlocks hosts_;
  PrivateSlices private_;  // as bound_
  std::vector<std::optional<Binding>> bound_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_RESIDENTS_H_
