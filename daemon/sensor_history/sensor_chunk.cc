// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensor_history/sensor_chunk.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// The two allocations and the reference counts.
constexpr size_t kOverhead = 96;

}  // namespace

void SensorChunkView::Add(absl::Time time, size_t new_size, uint64_t place) {
  size = new_size;
  ++frames;
  newest = place;
  first = std::min(first, time);
  last = std::max(last, time);
}

size_t SensorChunkView::Footprint(size_t capacity) {
  // The vector of views may have grown to twice its size.
  return sizeof(SensorChunk) + 2 * sizeof(SensorChunkView) + kOverhead + capacity;
}

SensorChunkReader::SensorChunkReader(SensorChunkView view)
    : view_(std::move(view)), left_(view_.written()), frame_(view_.layout().series.size()) {}

bool SensorChunkReader::Next() {
  if (read_ == view_.frames || !frame_.Decode(left_)) return false;
  ++read_;
  return true;
}

}  // namespace sideband::daemon
