// SPDX-License-Identifier: Apache-2.0
//
// Memory blocks: the cumulative counters of the hypervisor (the whole device), of each VM and of each context, and the
// MMU through which commits reach them. (pipeline.md, "Memory blocks"; patent text, paragraphs 67-78.)
//
//   MemoryBlocks memory(events);
//   const BlockId context = memory.Create(1, 0);
//   memory.AtomicAdd(context, channel.reduction(), reference_time_ns);
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/snapshot.h"
#include "secure_mcu/pipeline/reduction.h"

namespace sideband::mcu {

using BlockId = uint32_t;

// Block 0 is the hypervisor's. Blocks are numbered in the order of their creation and keep their numbers. The life of a
// context's block: created idle, active while its context is resident, retired when the context has ended, and once its
// final counts have been read either released, so that it is in no snapshot any more, or renewed for a successor.
// Not thread-safe.
class MemoryBlocks {
 public:
  explicit MemoryBlocks(size_t events);

  // A new block of zeros for a VM (context = mailbox::kNoContext) or context; generation 1. One per scope.
  BlockId Create(uint16_t vm, uint16_t context);
  // The context of the block has ended: nothing is committed to it any more, its counts are final.
  void Retire(BlockId block) { headers_[block].state = mailbox::BlockState::kRetired; }
  bool retired(BlockId block) const { return headers_[block].state == mailbox::BlockState::kRetired; }
  // Starts the next generation of the block's scope: idle, all counters 0, no flags.
  void Renew(BlockId block);
  // The block is gone; it can be renewed.
  void Release(BlockId block) { released_[block] = true; }
  bool released(BlockId block) const { return released_[block]; }

  size_t size() const { return headers_.size(); }
  const mailbox::BlockHeader& header(BlockId block) const { return headers_[block]; }
  std::span<const uint64_t> counters(BlockId block) const;
  // Headers and counters of all blocks that are not released, block after block.
  void CopyTo(std::vector<mailbox::BlockHeader>& headers, std::vector<uint64_t>& counters) const;

  // Adds the sums, raises the flags and notes trigger and time. A counter saturates at 2^64 - 1, flagged.
  void AtomicAdd(BlockId block, const Reduction& reduction, uint64_t reference_time_ns);
  // Flags stay: a block that was inexact once is inexact for its generation.
  void RaiseFlags(BlockId block, uint16_t flags) { headers_[block].flags |= flags; }
  // Active or idle; a retired block stays so.
  void SetActive(BlockId block, bool active);

 private:
  const size_t events_;
  std::vector<mailbox::BlockHeader> headers_;
  std::vector<bool> released_;
  std::vector<uint64_t> counters_;
};

// Where a channel's commits go: the blocks of the VM and context that are resident.
struct Binding {
  BlockId vm = 0;
  std::optional<BlockId> context;  // none while a VM is resident without a context
  bool operator==(const Binding&) const = default;
};

// The address space of each channel. A channel that is pointed at blocks that the MMU has not bound for it faults.
class Mmu {
 public:
  explicit Mmu(size_t channels) : bound_(channels) {}

  void Bind(size_t channel, std::optional<Binding> binding) { bound_[channel] = binding; }
  // Whether `binding` may be written by `channel` now.
  bool Translates(size_t channel, const Binding& binding) const { return bound_[channel] == binding; }

 private:
  std::vector<std::optional<Binding>> bound_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_
