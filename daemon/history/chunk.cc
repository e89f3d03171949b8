// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/chunk.h"

#include <algorithm>

namespace sideband::daemon {

void ChunkView::Add(const FrameHeader& frame, size_t new_size) {
  size = new_size;
  if (frames++ == 0) first_publication = frame.publication;
  last_publication = frame.publication;
  last_steady = frame.steady_time();
  first = std::min(first, frame.host_time());
  last = std::max(last, frame.host_time());
}

size_t ChunkView::Footprint(size_t rows, size_t capacity) {
  // Two allocations with their headers, and the counts of a shared_ptr. A growing vector reserves up to two views per
  // entry.
  constexpr size_t kOverhead = sizeof(Chunk) + 3 * 16 + 16 + 2 * sizeof(ChunkView);
  return kOverhead + rows * sizeof(Layout::Row) + capacity;
}

ChunkReader::ChunkReader(ChunkView view)
    : view_(std::move(view)),
      rows_(view_.layout().rows.size()),
      left_(view_.written()),
      values_(view_.layout().values(), 0) {}

bool ChunkReader::Next() {
  if (read_ == view_.frames || !DecodeFrame(left_, header_, values_)) return false;
  ++read_;
  return true;
}

std::optional<uint64_t> ChunkReader::Shown(size_t row, size_t event) const {
  const Layout& layout = view_.layout();
  if (!layout.IsEstimated(event)) return Count(row, event);
  const size_t column = size_t{1} + layout.events + layout.topology->rotation().PlaceOf(event);
  const uint64_t shown = values_[column * rows_ + row];
  return shown == 0 ? std::nullopt : std::optional(shown - 1);
}

}  // namespace sideband::daemon
