// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/channel_buffer.h"

#include <algorithm>

namespace sideband::mcu {

void ChannelBuffer::Push(const Record& record) {
  ring_[(head_ + size_) % ring_.size()] = record;
  high_water_ = std::max(high_water_, ++size_);
}

Record ChannelBuffer::Pop() {
  const Record record = ring_[head_];
  head_ = (head_ + 1) % ring_.size();
  --size_;
  return record;
}

}  // namespace sideband::mcu
