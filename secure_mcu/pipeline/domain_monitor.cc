// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/domain_monitor.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

// The output function of SplitMix64.
uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

DomainMonitor::DomainMonitor(std::shared_ptr<const sim::DomainClock> clock, Config config)
    : clock_(std::move(clock)),
      config_(config),
      answer_max_(config.wire_max + sim::Instant(config.sync_edges + 1) * clock_->slowest()) {}

// No trigger overtakes another one on a wire.
sim::Instant DomainMonitor::ArrivalOf(sim::Instant sent) {
  const auto spread = static_cast<uint64_t>(config_.wire_max - config_.wire_min);
  const uint64_t drawn = spread == 0 ? 0 : Mix(config_.seed + ++draws_) % (spread + 1);
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

}  // namespace sideband::mcu
