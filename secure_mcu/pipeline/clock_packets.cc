// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/clock_packets.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

uint32_t NumberOf(const TriggerPackets& trigger) { return trigger.reference.number; }

}  // namespace

DomainMonitor::DomainMonitor(std::shared_ptr<const sim::DomainClock> clock, Config config)
    : clock_(std::move(clock)),
      config_(config),
      answer_max_(config.wire_max + sim::Instant(config.sync_edges + 1) * clock_->slowest()) {}

// No trigger overtakes another one on a wire.
sim::Instant DomainMonitor::ArrivalOf(sim::Instant sent) {
  const auto spread = static_cast<uint64_t>(config_.wire_max - config_.wire_min);
  const uint64_t drawn = spread == 0 ? 0 : sim::Mix(config_.seed + ++draws_) % (spread + 1);
  arrived_ = std::max(arrived_, sent + config_.wire_min + drawn);
  return arrived_;
}

void DomainMonitor::Append(uint64_t sampled) {
  const uint64_t edge = sampled + config_.sync_edges;
  const sim::Instant instant = clock_->InstantOf(edge);
  const bool changed = clock_->limits().announces && clock_->ChangedBetween(answered_, instant);
  answered_ = instant;
  changes_ += changed ? 1 : 0;
  answers_.push_back({.packet = {.local_clock = edge,
                                 .arrival = sim::CycleAtOrAfter(instant + 1),
                                 .changed = changed,
                                 .changes = changes_},
                      .sampled = sampled});
}

std::optional<ClockPacket> DomainMonitor::Receive(const Trigger& trigger) {
  ++number_;
  const sim::Instant arrival = ArrivalOf(trigger.sent);
  if (!trigger.answers) return std::nullopt;
  // An edge at the very instant has been counted already.
  const uint64_t sampled = clock_->EdgeAtOrAfter(arrival + 1);
  if (answers_.empty() || answers_.back().sampled != sampled) {
    Append(sampled);
  } else {
    ++answers_.back().packet.coalesced;
  }
  ClockPacket& packet = answers_.back().packet;
  packet.number = number_;
  packet.horizon_lag = packet.local_clock - std::min(packet.local_clock, trigger.horizon);
  packet.late |= trigger.late;
  const bool stands_still = answered_ > trigger.sent + answer_max_;
  return stands_still ? std::nullopt : std::optional(packet);
}

void DomainMonitor::StepClock(sim::Instant at, uint64_t hz) {
  // The clock may be another monitor's, too, which is stepped by itself.
  auto stepped = std::make_shared<sim::DomainClock>(*clock_);
  stepped->Step(at, hz);
  clock_ = std::move(stepped);
}

std::optional<ClockPacket> DomainMonitor::TakeArrived(uint64_t cycle) {
  if (answers_.empty() || answers_.front().packet.arrival > cycle) return std::nullopt;
  const ClockPacket packet = answers_.front().packet;
  answers_.pop_front();
  return packet;
}

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

// Numbers begin again after 2^32: those of the ring ascend from its oldest. From 0 on, which no trigger has at first,
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
