// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/domain_router.h"

namespace sideband::mcu {

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

}  // namespace sideband::mcu
