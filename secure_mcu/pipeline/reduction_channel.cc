// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/reduction_channel.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/snapshot.h"

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

ReductionChannel::ReductionChannel(size_t events, std::shared_ptr<const EventMeanings> meanings)
    : meanings_(std::move(meanings)) {
  reduction_.counts.resize(events);
}

void ReductionChannel::MarkSaturated(uint16_t event) {
  reduction_.flags |= mailbox::kFlagOverflow;
  if (reduction_.saturated.empty()) reduction_.saturated = mailbox::EmptySet(reduction_.counts.size());
  mailbox::Insert(event, reduction_.saturated);
}

void ReductionChannel::AddCount(uint64_t count, uint16_t event) {
  if (!AddSaturating(count, reduction_.counts[event])) MarkSaturated(event);
}

void ReductionChannel::Add(const Record& record) {
  const std::vector<EventShare>& meanings = (*meanings_)[record.select][record.ccu];
  const bool has_overflow = (record.flags & mailbox::kFlagOverflow) != 0;
  for (uint16_t i = 0; i < record.size; ++i) {
    const EventShare& share = meanings[record.first + i];
    // 28 bits shifted by at most 31 places stay within 64.
    AddCount(uint64_t{record.counts[i]} << share.shift, share.event);
    // The flag is of the bank: the counters that have reached the end of their range are those that it can mean.
    if (has_overflow && record.counts[i] == kCcuCounterMax) MarkSaturated(share.event);
  }
  reduction_.flags |= record.flags;
  // Trigger ids wrap: the newer id is ahead by less than half of their range.
  if (static_cast<int32_t>(record.trigger_id - reduction_.trigger_id) > 0) reduction_.trigger_id = record.trigger_id;
  has_data_ = true;
}

void ReductionChannel::AddDerived(std::span<const uint64_t> counts) {
  for (size_t event = 0; event < counts.size(); ++event) {
    if (counts[event] == 0) continue;
    has_data_ = true;
    AddCount(counts[event], static_cast<uint16_t>(event));
  }
}

void ReductionChannel::Clear() {
  std::fill(reduction_.counts.begin(), reduction_.counts.end(), 0);
  reduction_.saturated.clear();
  reduction_.flags = 0;
  has_data_ = false;
}

}  // namespace sideband::mcu
