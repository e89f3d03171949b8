// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/packet_ring.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

uint32_t NumberOf(const TriggerPackets& trigger) { return trigger.reference.number; }

}  // namespace

void DomainRouter::Add(const ReturnPacket& packet) {
  Merged& merged = merged_[packet.number];
  for (const EventCount& count : packet.counts) {
    if (count.count > 0) merged.counts[count.event] += count.count;
  }
  if (!packet.clock || (merged.clock && merged.clock_unit <= packet.unit)) return;
  merged.clock = packet.clock;
  merged.clock_unit = packet.unit;
}

std::vector<AggregatePacket> DomainRouter::Take() {
  std::vector<AggregatePacket> packets;
  for (const auto& [number, merged] : merged_) {
    AggregatePacket packet{.channel = channel_, .domain = domain_, .number = number, .clock = merged.clock};
    for (const auto& [event, count] : merged.counts) packet.counts.push_back({event, count});
    packets.push_back(std::move(packet));
  }
  merged_.clear();
  return packets;
}

// Numbers begin anew after 2^32: those of the ring ascend from its oldest. From 0 on, which no trigger has at first,
// are all.
std::deque<TriggerPackets>::iterator PacketRing::Find(uint32_t number) {
  if (triggers_.empty() || number == 0) return triggers_.begin();
  const uint32_t oldest = NumberOf(triggers_.front());
  const auto since = static_cast<int32_t>(number - oldest);
  return std::ranges::lower_bound(triggers_, static_cast<uint32_t>(std::max(since, 0)), {},
                                  [oldest](const TriggerPackets& trigger) { return NumberOf(trigger) - oldest; });
}

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
  const auto trigger = Find(number);
  if (trigger != triggers_.end() && NumberOf(*trigger) == number) trigger->rows[row] = packet;
}

std::vector<TriggerPackets> PacketRing::From(uint32_t number) { return {Find(number), triggers_.end()}; }

void PacketRing::Release(uint32_t number) { triggers_.erase(triggers_.begin(), Find(number)); }

}  // namespace sideband::mcu
