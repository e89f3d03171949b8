// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/record_mover.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {

RecordMover::RecordMover(Latencies latencies, std::vector<CounterCollectionUnit>& ccus, Route route)
    : latencies_(latencies),
      ccus_(ccus),
      route_(std::move(route)),
      buffer_(latencies.buffer_depth),
      unit_ready_(ccus.size()) {}

void RecordMover::FindSenders() {
  ready_.clear();
  resting_.clear();
  for (size_t unit = 0; unit < ccus_.size(); ++unit) {
    if (!ccus_[unit].HasRecord()) continue;
    if (unit_ready_[unit] > now_) {
      resting_.push_back(unit);
    } else {
      ready_.push_back(unit);
    }
  }
  std::sort(resting_.begin(), resting_.end(), [this](size_t a, size_t b) { return unit_ready_[a] < unit_ready_[b]; });
}

void RecordMover::Wake() {
  while (!resting_.empty() && unit_ready_[resting_.front()] <= now_) {
    const size_t unit = resting_.front();
    resting_.pop_front();
    ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), unit), unit);
  }
}

void RecordMover::Send(size_t unit) {
  buffer_.Push(ccus_[unit].PopRecord());
  unit_ready_[unit] = now_ + latencies_.record_cycles;
  // All rest for the same time, so the first to rest is the first to be ready.
  if (ccus_[unit].HasRecord()) resting_.push_back(unit);
}

void RecordMover::Step() {
  ++now_;
  if (!buffer_.empty() && now_ >= route_ready_) {
    route_(buffer_.Pop());
    route_ready_ = now_ + latencies_.route_cycles;
  }
  Wake();
  while (!ready_.empty() && !buffer_.full()) {
    auto next = std::lower_bound(ready_.begin(), ready_.end(), first_unit_);
    if (next == ready_.end()) next = ready_.begin();
    const size_t unit = *next;
    ready_.erase(next);
    Send(unit);
  }
  // A full buffer drops nothing: the units keep their records.
  stall_cycles_ += ready_.size();
  // The first unit rotates, so that a full buffer does not always stall the same units.
  if (++first_unit_ == ccus_.size()) first_unit_ = 0;
}

void RecordMover::RunFor(uint64_t cycles) {
  const uint64_t end = now_ + cycles;
  FindSenders();
  // An idle pipeline skips to the end.
  while (now_ < end && !Idle()) Step();
  now_ = end;
}

void RecordMover::RunUntil(const std::function<bool()>& done) {
  FindSenders();
  while (!done() && !Idle()) Step();
}

}  // namespace sideband::mcu
