// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/sensor_frame.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// The two allocations and the reference counts.
constexpr size_t kOverhead = 96;

}  // namespace

std::optional<SensorFrame> SensorFrame::Of(const SensorLayout& layout, std::span<const SensorSample> samples,
                                           absl::Time time, const SensorFrame& before) {
  SensorFrame now = before;
  now.time_ns_ = static_cast<uint64_t>(absl::ToUnixNanos(time));
  std::fill_n(now.numbers_.begin(), now.series_, static_cast<uint64_t>(ValueForm::kAbsent));
  // Both are in the same order, so one pass finds all.
  size_t at = 0;
  for (const SensorSample& sample : samples) {
    while (at < layout.series.size() && layout.series[at] != sample.series) ++at;
    if (at == layout.series.size()) return std::nullopt;
    now.Set(at++, sample.value);
  }
  return now;
}

SensorValue SensorFrame::Value(size_t series) const {
  return {.form = static_cast<ValueForm>(numbers_[series]),
          .word = numbers_[2 * series_ + series],
          .created_ns = numbers_[series_ + series]};
}

void SensorFrame::Set(size_t series, const SensorValue& value) {
  numbers_[series] = static_cast<uint64_t>(value.form);
  numbers_[series_ + series] = value.created_ns;
  numbers_[2 * series_ + series] = value.word;
}

bool SensorFrame::Decode(ByteSpan& bytes) {
  uint64_t difference;
  if (!ReadVarint(bytes, difference)) return false;
  time_ns_ += UnZigZag(difference);
  return AddTokens(bytes, numbers_);
}

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
