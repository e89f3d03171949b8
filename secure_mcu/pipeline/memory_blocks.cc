// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

MemoryBlocks::MemoryBlocks(size_t events) : events_(events) {
  Create(mailbox::kHypervisorVm, mailbox::kNoContext);
  headers_[0].state = mailbox::BlockState::kActive;
}

BlockId MemoryBlocks::Create(uint16_t vm, uint16_t context) {
  headers_.push_back({.vm = vm, .context = context, .generation = 1});
  counters_.resize(counters_.size() + events_);
  return static_cast<BlockId>(headers_.size() - 1);
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

}  // namespace sideband::mcu
