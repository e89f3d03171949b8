// SPDX-License-Identifier: Apache-2.0
//
// Memory blocks: the cumulative counters of the hypervisor (the whole device), of each VM and of each context, and the
// page tables and the MMU by which commits find them. Each block is one virtual page, in an address space for each VM;
// every space has the same layout, and its table leads from pages to blocks. (pipeline.md, "Memory blocks" and "Address
// spaces"; patent text, paragraphs 67-78.)
//
//   MemoryBlocks memory(events);
//   const BlockId context = memory.Create(1, 0);
//   memory.AtomicAdd(context, channel.reduction(), reference_time_ns);
//
//   Mmu mmu(/*channels=*/2);
//   const CommitTarget target = memory.TargetOf({.vm = vm, .context = context});
//   mmu.SetRoot(0, memory.page_tables().RootOf(target.space));     // step 7 of a context switch
//   if (const auto blocks = mmu.Translate(0, target, memory)) memory.AtomicAdd(blocks->vm, reduction, time_ns);
//
//   PageTables tables;
//   tables.Map(/*space=*/1, PageOf(4), /*block=*/9);
//   tables.Walk(*tables.RootOf(1), PageOf(4));      // 9
//   tables.Invalidate(1, PageOf(4));
//   tables.Walk(*tables.RootOf(1), PageOf(4));      // nullopt
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// Page 0 is the VM's own block, page 1 + c that of its context c. `context` is as in a block's header.
constexpr VirtualPage PageOf(uint16_t context) { return context == mailbox::kNoContext ? 0 : 1u + context; }

// The number of a block in memory.
using BlockId = uint32_t;
// The content of a root register: which table.
using TableId = uint32_t;

inline constexpr size_t kPageEntryBytes = 8;

// The tables of all spaces, from virtual pages to blocks. Not thread-safe.
class PageTables {
 public:
  // Writes a valid entry. The space gets its table with its first entry.
  void Map(uint16_t space, VirtualPage page, BlockId block);
  // The entry, if there is one, is not valid from now on.
  void Invalidate(uint16_t space, VirtualPage page);

  // nullopt: the space has no table.
  std::optional<TableId> RootOf(uint16_t space) const;
  // The block of the page; nullopt without a valid entry.
  std::optional<BlockId> Walk(TableId root, VirtualPage page) const;

 private:
  // A valid bit, and the number of the block.
  using Entry = uint64_t;
  static_assert(sizeof(Entry) == kPageEntryBytes);

  std::map<uint16_t, TableId> roots_;
  std::vector<std::vector<Entry>> tables_;  // by table and page
};

// The blocks of a resident: its VM's, and its context's.
struct Binding {
  BlockId vm = 0;
  std::optional<BlockId> context;  // absent while a VM is resident without a context
  bool operator==(const Binding&) const = default;
};

// Block 0 belongs to the hypervisor. Blocks are numbered in creation order and keep their numbers. Life cycle of a
// context's block: idle when created, active while its context is resident, retired when its context has ended. After
// its final counts have been read, a retired block is either released (omitted from snapshots) or renewed for a
// successor.
// Not thread-safe.
class MemoryBlocks {
 public:
  explicit MemoryBlocks(size_t events);

  // Creates a zeroed block, generation 1, for a VM (context = mailbox::kNoContext) or a context. One block per scope.
  BlockId Create(uint16_t vm, uint16_t context);
  // Marks the counts as final: the block's context has ended. Its page has no valid entry from now on, so that nothing
  // is committed to the block afterwards.
  void Retire(BlockId block);
  bool retired(BlockId block) const { return headers_[block].state == mailbox::BlockState::kRetired; }
  // Starts the next generation of the block's scope: idle, all counters 0, no flags, and its page valid again.
  void Renew(BlockId block);
  // Omits the block from snapshots, until it is renewed.
  void Release(BlockId block) { released_[block] = true; }
  bool released(BlockId block) const { return released_[block]; }

  // A valid entry for each block that is not retired; the hypervisor's is in the space of VM 0.
  const PageTables& page_tables() const { return page_tables_; }
  // To be written where a test wants wrong ones.
  PageTables& page_tables() { return page_tables_; }
  // The pages of the blocks in their VM's space.
  CommitTarget TargetOf(const Binding& binding) const;

  size_t size() const { return headers_.size(); }
  const mailbox::BlockHeader& header(BlockId block) const { return headers_[block]; }
  std::span<const uint64_t> counters(BlockId block) const;
  // Replaces `headers` and `counters` with those of all blocks that are not released, in block order.
  void CopyTo(std::vector<mailbox::BlockHeader>& headers, mailbox::CounterValues& counters) const;

  // Adds the sums, raises the flags, and stores trigger id and time in the header; increments the sequence number. A
  // counter that would wrap saturates at 2^64 - 1 and raises the overflow flag.
  void AtomicAdd(BlockId block, const Reduction& reduction, uint64_t reference_time_ns);
  // Flags are kept until the block is renewed: a block that was inexact once stays inexact for its generation.
  void RaiseFlags(BlockId block, uint16_t flags) { headers_[block].flags |= flags; }
  // Sets the state to active or idle. A retired block stays retired.
  void SetActive(BlockId block, bool active);

 private:
  void MapPage(BlockId block);

  const size_t events_;
  PageTables page_tables_;
  std::vector<mailbox::BlockHeader> headers_;
  std::vector<bool> released_;
  mailbox::CounterValues counters_;
};

// The block of a page in the space of a VM, by the table `root`; nullopt without a valid entry, and if what the entry
// names is not of that page and space.
std::optional<BlockId> FindBlock(TableId root, uint16_t space, VirtualPage page, const MemoryBlocks& memory);

// The MMU through which the commits of slices reach memory blocks: a root register for each channel, and the check that
// what is found there is what was meant (pipeline.md, "Address spaces"; patent text, paragraph 73).
// Not thread-safe.
class Mmu {
 public:
  // No channel has a table at first.
  explicit Mmu(size_t channels) : roots_(channels), selected_(channels) {}

  // The selection that the channel's records must carry, else they fault; initially 0.
  void BindSelection(size_t channel, uint8_t select) { selected_[channel] = select; }
  uint8_t selection(size_t channel) const { return selected_[channel]; }

  void SetRoot(size_t channel, std::optional<TableId> root) { roots_[channel] = root; }

  // The blocks to which a commit of the channel goes; nullopt if it faults and goes nowhere, since for any of its pages
  //   * the bound table has no valid entry, or no table is bound;
  //   * the block found is not of that page in the target's space. Layouts are alike in all spaces: with another VM's
  //     table the same page is that VM's block (docs/decisions/0025).
  std::optional<Binding> Translate(size_t channel, const std::optional<CommitTarget>& target,
                                   const MemoryBlocks& memory) const;

 private:
  std::vector<std::optional<TableId>> roots_;
  std::vector<uint8_t> selected_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_MEMORY_BLOCKS_H_
