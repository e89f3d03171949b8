// SPDX-License-Identifier: Apache-2.0
//
// What the blocks of a snapshot are written relative to, on both ends.
//   const BlockBases bases(snapshot.blocks, base);
//   increment = counter - bases.Of(block).counter(i);
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_BASES_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_BASES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/mailbox/block_family.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Widths of a block's fields on the wire (README.md).
inline constexpr uint32_t kScopeBits = 16 + 16 + 32;
inline constexpr uint32_t kStateBits = 2;
inline constexpr uint32_t kFlagsBits = 16;
inline constexpr uint32_t kCounterBits = 64;

// What a block is relative to: the base's of its scope, or nothing but zeros.
struct BaseBlock {
  const BlockHeader* header = nullptr;
  std::span<const uint64_t> counters;

  uint64_t counter(size_t i) const { return header == nullptr ? 0 : counters[i]; }
};

// The blocks of a snapshot beside those that they are relative to.
// Immutable, therefore thread-safe; what it is given must outlive it.
class BlockBases {
 public:
  BlockBases(std::span<const BlockHeader> blocks, const Snapshot* base)
      : base_(base),
        same_(base == nullptr ? std::vector(blocks.size(), BlockFamily::kNone) : SameBlocks(blocks, base->blocks)) {}

  BaseBlock Of(size_t block) const {
    if (same_[block] == BlockFamily::kNone) return {};
    return {&base_->blocks[same_[block]], base_->Counters(same_[block])};
  }

 private:
  const Snapshot* const base_;
  const std::vector<size_t> same_;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_BASES_H_
