// SPDX-License-Identifier: Apache-2.0
//
// Channel buffer: the finite queue between the collection units and the reduction channels. It never drops a record: a
// unit that finds the buffer full keeps its record and retries. (pipeline.md, "Channel buffer"; patent text, paragraph
// 63.)
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_CHANNEL_BUFFER_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_CHANNEL_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

// A first-in first-out ring. Not thread-safe.
class ChannelBuffer {
 public:
  // Holds `depth` records, at least 1.
  explicit ChannelBuffer(size_t depth) : ring_(depth) {}

  bool full() const { return size_ == ring_.size(); }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The highest size() so far.
  size_t high_water() const { return high_water_; }

  // The record that Pop would return after `index` others; `index` must be below size().
  const Record& at(size_t index) const { return ring_[(head_ + index) % ring_.size()]; }

  // Must not be full.
  void Push(const Record& record);
  // Must not be empty.
  Record Pop();

 private:
  std::vector<Record> ring_;
  size_t head_ = 0;
  size_t size_ = 0;
  size_t high_water_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_CHANNEL_BUFFER_H_
