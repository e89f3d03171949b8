// SPDX-License-Identifier: Apache-2.0
//
// Of Chip: bookmarks, which end at a trigger of the grid that is due anyway, or at a switch-out (clocks.md,
// "Bookmarks").
#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

void Chip::AskBookmark(BlockId block, uint32_t bookmark) {
  bookmarks_.Ask(block, {.bookmark = bookmark, .asked_ns = ReferenceTimeNs()});
}

void Chip::SetTriggerGrid(uint64_t period) {
  triggers_.SetGrid(period, now_);
  if (!triggers_.has_grid()) ServeBookmarks();
}

bool Chip::HasPendingBookmark(uint8_t slice) const {
  const std::optional<Binding>& bound = bound_[slice];
  return bound && (bookmarks_.IsPending(bound->vm) || (bound->context && bookmarks_.IsPending(*bound->context)));
}

// Of a block that is not resident what was counted is final since its switch-out.
void Chip::ServeBookmarks() {
  if (bookmarks_.pending().empty()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    if (HasPendingBookmark(slice)) Flush(slice);
  }
  while (!bookmarks_.pending().empty()) {
    const BlockId block = bookmarks_.pending().begin()->first;
    bookmarks_.Serve(block, ReferenceTimeNs(), memory_.counters(block));
  }
}

// The slice has been flushed.
void Chip::ServeAtSwitchOut(const std::optional<Binding>& from) {
  if (!from || !from->context || !bookmarks_.IsPending(*from->context)) return;
  bookmarks_.Serve(*from->context, ReferenceTimeNs(), memory_.counters(*from->context));
}

}  // namespace sideband::mcu
