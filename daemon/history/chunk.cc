// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/chunk.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

Layout::Row RowOf(const mailbox::BlockHeader& block) { return {block.vm, block.context, block.generation}; }

uint32_t EstimatesOf(const DeviceSnapshot& snapshot) {
  return snapshot.estimated.empty() ? 0 : static_cast<uint32_t>(snapshot.topology->rotation().events());
}

}  // namespace

Layout Layout::Of(const DeviceSnapshot& snapshot) {
  Layout layout{.topology = snapshot.topology,
                .boot_id = snapshot.data.boot_id,
                .events = snapshot.data.counters_per_block,
                .estimates = EstimatesOf(snapshot),
                .device_scope_withheld = snapshot.device_scope_withheld,
                .device_row_withheld = snapshot.device_row_withheld};
  layout.rows.reserve(snapshot.data.blocks.size());
  for (const mailbox::BlockHeader& block : snapshot.data.blocks) layout.rows.push_back(RowOf(block));
  return layout;
}

bool Layout::Describes(const DeviceSnapshot& snapshot) const {
  return boot_id == snapshot.data.boot_id && events == snapshot.data.counters_per_block &&
         estimates == EstimatesOf(snapshot) && device_scope_withheld == snapshot.device_scope_withheld &&
         device_row_withheld == snapshot.device_row_withheld &&
         std::equal(rows.begin(), rows.end(), snapshot.data.blocks.begin(), snapshot.data.blocks.end(),
                    [](const Row& row, const mailbox::BlockHeader& block) { return row == RowOf(block); }) &&
         DescribesTheSame(*topology, *snapshot.topology);
}

bool Layout::operator==(const Layout& other) const {
  return boot_id == other.boot_id && events == other.events && estimates == other.estimates &&
         device_scope_withheld == other.device_scope_withheld && device_row_withheld == other.device_row_withheld &&
         rows == other.rows && DescribesTheSame(*topology, *other.topology);
}

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
