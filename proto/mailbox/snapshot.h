// SPDX-License-Identifier: Apache-2.0
//
// All memory blocks of a device, latched at one trigger. How it travels: snapshot_stream.h.
//   for (size_t i = 0; i < snapshot.blocks.size(); ++i) Use(snapshot.blocks[i], snapshot.Counters(i));
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {

enum class BlockState : uint8_t { kActive = 0, kIdle = 1, kRetired = 2 };

// Why a block's counters may not be exact, or not as of their trigger. The bits are on the wire.
enum BlockFlag : uint16_t {
  kFlagOverflow = 1 << 0,        // a 28-bit counter saturated
  kFlagTriggerOverrun = 1 << 1,  // a trigger had to wait until a bank had left; no count is lost, some are late
  kFlagMmuFault = 1 << 2,        // a commit had a wrong binding and went nowhere
  kFlagEstimated = 1 << 3,       // scaled from a part of the time
};
inline constexpr uint16_t kFlagsKnown = 0x000F;
// Not on the wire: what a host shows as the device's row does not contain what confidential VMs count.
inline constexpr uint16_t kFlagConfidentialExcluded = 1 << 4;

// "overflow", "trigger_overrun", "mmu_fault", "estimated", "confidential_excluded", in the order of the bits.
std::vector<std::string> FlagNames(uint16_t flags);

// A memory block's header in the device's memory; its counters follow, 8 bytes each.
inline constexpr size_t kBlockHeaderBytes = 28;

struct BlockHeader {
  uint16_t vm = kHypervisorVm;
  uint16_t context = kNoContext;
  uint32_t generation = 0;
  BlockState state = BlockState::kIdle;
  uint16_t flags = 0;
  uint32_t trigger_id = 0;         // the last one whose counts are in
  uint64_t reference_time_ns = 0;  // of that trigger
  uint32_t sequence = 0;           // commits so far
  bool operator==(const BlockHeader&) const = default;
};

struct Snapshot {
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;
  uint32_t catalog_hash = 0;  // of the catalogue that names the blocks and counters
  uint32_t trigger_id = 0;
  uint64_t reference_time_ns = 0;  // of the latch, since boot
  uint32_t counters_per_block = 0;
  std::vector<BlockHeader> blocks;
  std::vector<uint64_t> counters;  // block after block, counters_per_block each, in the catalogue's order of events

  std::span<const uint64_t> Counters(size_t block) const {
    return std::span(counters).subspan(block * counters_per_block, counters_per_block);
  }
  bool operator==(const Snapshot&) const = default;
};

inline constexpr size_t kBlocksMax = 1 + kVmsMax + kContextsMax;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_
