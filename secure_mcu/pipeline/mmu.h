// SPDX-License-Identifier: Apache-2.0
//
// The MMU through which the commits of slices reach memory blocks: a root register for each channel, and the check that
// what is found there is what was meant (pipeline.md, "Address spaces"; patent text, paragraph 73).
//
//   Mmu mmu(/*channels=*/2);
//   const CommitTarget target = memory.TargetOf({.vm = vm, .context = context});
//   mmu.SetRoot(0, memory.page_tables().RootOf(target.space));     // step 7 of a context switch
//   if (const auto blocks = mmu.Translate(0, target, memory)) memory.AtomicAdd(blocks->vm, reduction, time_ns);
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_MMU_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_MMU_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

// The block of a page in the space of a VM, by the table `root`; nullopt without a valid entry, and if what the entry
// names is not of that page and space.
std::optional<BlockId> FindBlock(TableId root, uint16_t space, VirtualPage page, const MemoryBlocks& memory);

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

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_MMU_H_
