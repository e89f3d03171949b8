// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/reduction_channel.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

ReductionChannel::ReductionChannel(size_t events, std::shared_ptr<const EventMeanings> meanings)
    : meanings_(std::move(meanings)) {
  reduction_.counts.resize(events);
}

void ReductionChannel::Add(const Record& record) {
  const std::vector<EventShare>& meanings = (*meanings_)[record.select][record.ccu];
  for (uint16_t i = 0; i < record.size; ++i) {
    const EventShare& share = meanings[record.first + i];
    // 28 bits shifted by at most 31 places stay within 64.
    if (!AddSaturating(uint64_t{record.counts[i]} << share.shift, reduction_.counts[share.event])) {
      reduction_.flags |= mailbox::kFlagOverflow;
    }
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
    if (!AddSaturating(counts[event], reduction_.counts[event])) reduction_.flags |= mailbox::kFlagOverflow;
  }
}

void ReductionChannel::Clear() {
  std::fill(reduction_.counts.begin(), reduction_.counts.end(), 0);
  reduction_.flags = 0;
  has_data_ = false;
}

}  // namespace sideband::mcu
