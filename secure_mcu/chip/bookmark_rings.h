// SPDX-License-Identifier: Apache-2.0
//
// Bookmarks of memory blocks: those that wait to be served, and the newest of each block that were, with what was
// counted until then. (clocks.md, "Bookmarks")
//   BookmarkRings rings;
//   if (!rings.IsPending(block)) rings.Ask(block, {.bookmark = 17, .asked_ns = 1000});
//   rings.Serve(block, /*served_ns=*/1500, memory.counters(block));
//   for (const KeptBookmark& kept : rings.kept()) Send(kept);
#ifndef SIDEBAND_SECURE_MCU_CHIP_BOOKMARK_RINGS_H_
#define SIDEBAND_SECURE_MCU_CHIP_BOOKMARK_RINGS_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "secure_mcu/pipeline/memory_blocks.h"

namespace sideband::mcu {

struct AskedBookmark {
  uint32_t bookmark = 0;  // a controller's own value
  uint64_t asked_ns = 0;
};

struct KeptBookmark {
  uint64_t number = 0;  // of all that were served, from 1
  BlockId block = 0;
  AskedBookmark asked;
  uint64_t served_ns = 0;
  std::vector<uint64_t> counters;
};

// Not thread-safe.
class BookmarkRings {
 public:
  // A block has one at most.
  const std::map<BlockId, AskedBookmark>& pending() const { return pending_; }
  bool IsPending(BlockId block) const { return pending_.contains(block); }
  // It must have none.
  void Ask(BlockId block, const AskedBookmark& asked) { pending_.emplace(block, asked); }
  // It must have one. The oldest of the block is forgotten where it has mailbox::kBookmarksKept.
  void Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters);
  // Its counters begin anew, or are gone.
  void Forget(BlockId block);

  // Ascending by number.
  const std::vector<KeptBookmark>& kept() const { return kept_; }

 private:
  std::map<BlockId, AskedBookmark> pending_;
  std::vector<KeptBookmark> kept_;
  uint64_t served_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_BOOKMARK_RINGS_H_
