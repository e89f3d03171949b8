// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/memory_blocks.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

constexpr uint64_t kValid = uint64_t{1} << 63;

}  // namespace

void PageTables::Map(uint16_t space, VirtualPage page, BlockId block) {
  const auto [root, is_new] = roots_.try_emplace(space, static_cast<TableId>(tables_.size()));
  if (is_new) tables_.emplace_back();
  std::vector<Entry>& table = tables_[root->second];
  if (page >= table.size()) table.resize(page + size_t{1});
  table[page] = kValid | block;
}

void PageTables::Invalidate(uint16_t space, VirtualPage page) {
  const auto root = roots_.find(space);
  if (root == roots_.end() || page >= tables_[root->second].size()) return;
  tables_[root->second][page] &= ~kValid;
}

std::optional<TableId> PageTables::RootOf(uint16_t space) const {
  const auto root = roots_.find(space);
  return root == roots_.end() ? std::nullopt : std::optional(root->second);
}

std::optional<BlockId> PageTables::Walk(TableId root, VirtualPage page) const {
  if (root >= tables_.size() || page >= tables_[root].size()) return std::nullopt;
  const Entry entry = tables_[root][page];
  return (entry & kValid) == 0 ? std::nullopt : std::optional(static_cast<BlockId>(entry & ~kValid));
}

MemoryBlocks::MemoryBlocks(size_t events) : events_(events) {
  Create(mailbox::kHypervisorVm, mailbox::kNoContext);
  // The hypervisor's block counts the whole device and is always active.
  SetActive(0, true);
}

BlockId MemoryBlocks::Create(uint16_t vm, uint16_t context) {
  headers_.push_back({.vm = vm, .context = context, .generation = 1});
  released_.push_back(false);
  counters_.resize(counters_.size() + events_);
  const auto block = static_cast<BlockId>(headers_.size() - 1);
  MapPage(block);
  return block;
}

void MemoryBlocks::MapPage(BlockId block) {
  page_tables_.Map(headers_[block].vm, PageOf(headers_[block].context), block);
}

void MemoryBlocks::Retire(BlockId block) {
  headers_[block].state = mailbox::BlockState::kRetired;
  page_tables_.Invalidate(headers_[block].vm, PageOf(headers_[block].context));
}

void MemoryBlocks::Renew(BlockId block) {
  const mailbox::BlockHeader& old = headers_[block];
  // All other fields of the header restart, the flags among them.
  headers_[block] = {.vm = old.vm, .context = old.context, .generation = old.generation + 1};
  released_[block] = false;
  std::fill_n(counters_.begin() + static_cast<ptrdiff_t>(block * events_), events_, 0);
  MapPage(block);
}

CommitTarget MemoryBlocks::TargetOf(const Binding& binding) const {
  CommitTarget target{.space = headers_[binding.vm].vm, .vm = PageOf(headers_[binding.vm].context), .context = {}};
  if (binding.context) target.context = PageOf(headers_[*binding.context].context);
  return target;
}

void MemoryBlocks::SetActive(BlockId block, bool active) {
  if (retired(block)) return;
  headers_[block].state = active ? mailbox::BlockState::kActive : mailbox::BlockState::kIdle;
}

void MemoryBlocks::CopyTo(std::vector<mailbox::BlockHeader>& headers, mailbox::CounterValues& counters) const {
  headers.clear();
  counters.clear();
  counters.reserve(counters_.size());
  for (BlockId block = 0; block < size(); ++block) {
    if (released_[block]) continue;
    headers.push_back(headers_[block]);
    const auto block_counters = this->counters(block);
    counters.insert(counters.end(), block_counters.begin(), block_counters.end());
  }
}

std::span<const uint64_t> MemoryBlocks::counters(BlockId block) const {
  return std::span(counters_).subspan(block * events_, events_);
}

void MemoryBlocks::AtomicAdd(BlockId block, const Reduction& reduction, uint64_t reference_time_ns) {
  mailbox::BlockHeader& header = headers_[block];
  uint64_t* const counters = &counters_[block * events_];
  for (size_t event = 0; event < events_; ++event) {
    if (!AddSaturating(reduction.counts[event], counters[event])) header.flags |= mailbox::kFlagOverflow;
  }
  header.flags |= reduction.flags;
  header.trigger_id = reduction.trigger_id;
  header.reference_time_ns = reference_time_ns;
  ++header.sequence;
}

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
