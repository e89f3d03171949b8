// SPDX-License-Identifier: Apache-2.0
//
// How the blocks of a snapshot belong together: a context's counts are also its VM's, a VM's are also the device's.
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

  // The block whose counts include this one's, or kNone: it is the device's, or its parent is not among them.
  size_t parent(size_t block) const { return parents_[block]; }
  // All blocks, each before its parent.
  const std::vector<size_t>& children_first() const { return children_first_; }

 private:
  std::vector<size_t> parents_;
  std::vector<size_t> children_first_;
};

// For each block the one of `base` with its scope and generation, or BlockFamily::kNone.
std::vector<size_t> SameBlocks(std::span<const BlockHeader> blocks, std::span<const BlockHeader> base);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCK_FAMILY_H_
