// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/packet_ring.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

uint32_t NumberOf(const TriggerPackets& trigger) { return trigger.reference.number; }

}  // namespace

void PacketRing::Begin(const ReferencePacket& reference) {
  if (triggers_.size() == kTriggersMax) {
    triggers_.pop_front();
    ++lost_;
  }
  triggers_.push_back({.reference = reference, .rows = std::vector<std::optional<ClockPacket>>(rows_)});
}

// A monitor's number has 16 bits. A packet is of the newest trigger that has them: the ring is shorter than their
// range.
void PacketRing::Add(size_t row, const ClockPacket& packet) {
  if (triggers_.empty()) return;
  const uint32_t newest = NumberOf(triggers_.back());
  const uint32_t number = newest - static_cast<uint16_t>(newest - packet.number);
  const auto trigger = std::ranges::lower_bound(triggers_, number, {}, NumberOf);
  if (trigger != triggers_.end() && NumberOf(*trigger) == number) trigger->rows[row] = packet;
}

std::vector<TriggerPackets> PacketRing::From(uint32_t number) const {
  return {std::ranges::lower_bound(triggers_, number, {}, NumberOf), triggers_.end()};
}

void PacketRing::Release(uint32_t number) {
  while (!triggers_.empty() && NumberOf(triggers_.front()) < number) triggers_.pop_front();
}

}  // namespace sideband::mcu
