// SPDX-License-Identifier: Apache-2.0
//
// The base of each block of a snapshot, used by encoder and decoder.
//   const BlockBases bases(snapshot.blocks, base);
//   const uint64_t increment = snapshot.Counters(block)[i] - bases.Of(block).counter(i);
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_BASES_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_BASES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/mailbox/block_family.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Widths of a block's fields in the stream (README.md).
inline constexpr uint32_t kScopeBits = 16 + 16 + 32;
inline constexpr uint32_t kStateBits = 2;
inline constexpr uint32_t kFlagsBits = 16;
inline constexpr uint32_t kCounterBits = 64;

// The flags that a stream with these forms of increments may have.
constexpr uint16_t KnownFlags(Forms forms) {
  return forms >= Forms::kProportional ? kFlagsKnown | kFlagRotationInconsistent : kFlagsKnown;
}

// The base of a block: the base snapshot's block with the same scope, or zeros.
struct BaseBlock {
  const BlockHeader* header = nullptr;
  std::span<const uint64_t> counters;

  uint64_t counter(size_t i) const { return header == nullptr ? 0 : counters[i]; }
};

// Maps the blocks of a snapshot to their bases. Immutable, therefore thread-safe; the arguments must outlive it.
class BlockBases {
 public:
  BlockBases(std::span<const BlockHeader> blocks, const Snapshot* base)
      : base_(base),
        same_(base == nullptr ? std::vector(blocks.size(), BlockFamily::kNone) : SameBlocks(blocks, base->blocks)) {}

  // The block in the base snapshot; BlockFamily::kNone: there is none.
  size_t PlaceOf(size_t block) const { return same_[block]; }
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
