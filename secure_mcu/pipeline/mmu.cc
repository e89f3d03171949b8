// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/mmu.h"

namespace sideband::mcu {

std::optional<BlockId> FindBlock(TableId root, uint16_t space, VirtualPage page, const MemoryBlocks& memory) {
  const auto block = memory.page_tables().Walk(root, page);
  if (!block || *block >= memory.size()) return std::nullopt;
  const mailbox::BlockHeader& header = memory.header(*block);
  return header.vm == space && PageOf(header.context) == page ? block : std::nullopt;
}

// All pages before the first addition: a commit is done whole or not at all.
std::optional<Binding> Mmu::Translate(size_t channel, const std::optional<CommitTarget>& target,
                                      const MemoryBlocks& memory) const {
  const std::optional<TableId> root = roots_[channel];
  if (!root || !target) return std::nullopt;
  const auto vm = FindBlock(*root, target->space, target->vm, memory);
  if (!vm) return std::nullopt;
  if (!target->context) return Binding{.vm = *vm, .context = {}};
  const auto context = FindBlock(*root, target->space, *target->context, memory);
  return context ? std::optional(Binding{.vm = *vm, .context = context}) : std::nullopt;
}

}  // namespace sideband::mcu
