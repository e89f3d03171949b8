// SPDX-License-Identifier: Apache-2.0
//
// The hierarchy of a snapshot's blocks: a VM's counts include its contexts', the device's include its VMs' and those of
// the slices' host blocks.
//   const BlockFamily family(snapshot.blocks);
//   for (const size_t block : family.children_first()) Add(block, family.parent(block));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCK_FAMILY_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCK_FAMILY_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

// Immutable, therefore thread-safe.
class BlockFamily {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit BlockFamily(std::span<const BlockHeader> blocks);

  // The block whose counts include this block's. kNone for the device's block, and if the parent is not in the
  // snapshot.
  size_t parent(size_t block) const { return parents_[block]; }
  // All blocks, children before their parents.
  const std::vector<size_t>& children_first() const { return children_first_; }

 private:
  std::vector<size_t> parents_;
  std::vector<size_t> children_first_;
};

// For each block, the index of the block in `base` with the same scope and generation, or BlockFamily::kNone.
std::vector<size_t> SameBlocks(std::span<const BlockHeader> blocks, std::span<const BlockHeader> base);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_FAMILY_H_
