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

bool RecordMover::Idle() const {
  return buffer_.empty() && std::none_of(ccus_.begin(), ccus_.end(), [](const auto& ccu) { return ccu.HasRecord(); });
}

void RecordMover::Send(size_t unit) {
  if (!ccus_[unit].HasRecord() || unit_ready_[unit] > now_) return;
  if (buffer_.full()) {
    // A full buffer drops nothing: the unit keeps its record.
    ++stall_cycles_;
    return;
  }
  buffer_.Push(ccus_[unit].PopRecord());
  unit_ready_[unit] = now_ + latencies_.record_cycles;
}

void RecordMover::Step() {
  ++now_;
  if (!buffer_.empty() && now_ >= route_ready_) {
    route_(buffer_.Pop());
    route_ready_ = now_ + latencies_.route_cycles;
  }
  // The first unit rotates, so that a full buffer does not always stall the same units.
  for (size_t i = 0; i < ccus_.size(); ++i) Send((first_unit_ + i) % ccus_.size());
  first_unit_ = (first_unit_ + 1) % ccus_.size();
}

void RecordMover::RunFor(uint64_t cycles) {
  const uint64_t end = now_ + cycles;
  // An idle pipeline skips to the end.
  while (now_ < end && !Idle()) Step();
  now_ = end;
}

void RecordMover::RunUntil(const std::function<bool()>& done) {
  while (!done() && !Idle()) Step();
}

}  // namespace sideband::mcu
