// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/bookmark_rings.h"

#include <algorithm>

#include "proto/mailbox/bookmarks.h"

namespace sideband::mcu {

void BookmarkRings::Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters) {
  const auto asked = pending_.extract(block);
  if (std::ranges::count(kept_, block, &KeptBookmark::block) >= static_cast<ptrdiff_t>(mailbox::kBookmarksKept)) {
    kept_.erase(std::ranges::find(kept_, block, &KeptBookmark::block));
  }
  kept_.push_back({.number = ++served_,
                   .block = block,
                   .asked = asked.mapped(),
                   .served_ns = served_ns,
                   .counters = {counters.begin(), counters.end()}});
}

void BookmarkRings::Forget(BlockId block) {
  pending_.erase(block);
  std::erase_if(kept_, [block](const KeptBookmark& kept) { return kept.block == block; });
}

}  // namespace sideband::mcu
