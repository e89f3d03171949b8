// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/clock_network.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {
namespace {

using absl::uint128;

constexpr uint64_t kBillion = 1'000'000'000;
constexpr uint64_t kCycle = uint64_t{1} << sim::kInstantBits;

// In units of 2^-16 reference cycles.
uint64_t Shortest(uint64_t ns, uint64_t clock_hz) {
  return absl::Uint128Low64((uint128(ns) * clock_hz << sim::kInstantBits) / kBillion);
}
uint64_t Longest(uint64_t ns, uint64_t clock_hz) {
  return absl::Uint128Low64(((uint128(ns) * clock_hz << sim::kInstantBits) + kBillion - 1) / kBillion);
}

DomainMonitor::Config MonitorConfig(const PipelineConfig& config, const DomainRow& row) {
  const DomainSpec& domain = config.domains[row.domain - 1];
  return {.wire_min = Shortest(domain.wire_min_ns, config.clock_hz),
          .wire_max = Longest(domain.wire_max_ns, config.clock_hz),
          .sync_edges = domain.sync_edges,
          // Apart from the other rows' draws.
          .seed = domain.clock.seed + (uint64_t{row.channel} << 40)};
}

Scheduler::Config SchedulerConfig(const PipelineConfig& config) {
  const SchedulerSpec& spec = config.scheduler;
  return {.id = spec.id,
          .reference_delay = (Longest(spec.reference_delay_ns, config.clock_hz) + kCycle - 1) / kCycle,
          .clock = spec.domain == 0 ? nullptr : MakeClock(config, {kDeviceChannel, spec.domain})};
}

std::string NameOf(const std::string& domain, uint8_t channel, size_t rows) {
  if (rows == 1) return domain;
  return channel == kDeviceChannel ? absl::StrCat("device.", domain) : absl::StrCat("slice", channel, ".", domain);
}

}  // namespace

ClockNetwork::ClockNetwork(const PipelineConfig& config)
    : rows_(RowsOf(config)), scheduler_(SchedulerConfig(config)), ring_(rows_.size()) {
  for (const DomainRow& row : rows_) {
    const auto of_domain = std::ranges::count(rows_, row.domain, &DomainRow::domain);
    domains_.push_back(InfoOf(config, row, static_cast<size_t>(of_domain)));
    monitors_.emplace_back(MakeClock(config, row), MonitorConfig(config, row));
    routers_.emplace_back(row.channel, row.domain);
  }
  for (const CcuSpec& ccu : config.ccus) {
    const uint32_t domain = ccu.ulcs.empty() ? 0 : ccu.ulcs.back().domain;
    ccu_rows_.push_back(FindRow(ccu.channel, domain));
  }
}

// Where an edge can be at the latest, and at the earliest, after its trigger; a cycle on either side is for where the
// scheduler's own edge is within its cycle.
DomainInfo ClockNetwork::InfoOf(const PipelineConfig& config, const DomainRow& row, size_t rows) const {
  const DomainSpec& domain = config.domains[row.domain - 1];
  const auto clock = MakeClock(config, row);
  const sim::ClockLimits& limits = clock->limits();
  const DomainMonitor::Config monitor = MonitorConfig(config, row);
  const uint64_t low = static_cast<uint64_t>(monitor.wire_min) + domain.sync_edges * limits.shortest;
  const uint64_t high = static_cast<uint64_t>(monitor.wire_max) + (domain.sync_edges + 1) * limits.longest + kCycle;
  return {.name = NameOf(domain.name, row.channel, rows),
          .domain_name = domain.name,
          .channel = row.channel,
          .domain = row.domain,
          .is_shared = domain.is_shared,
          .announces = limits.announces,
          .nominal_hz = clock->nominal_hz(),
          .shortest = limits.shortest,
          .longest = limits.longest,
          .bar_low = low - std::min(low, kCycle),
          .bar_high = limits.longest == 0 ? 0 : high,
          .wander = limits.wander};
}

std::optional<size_t> ClockNetwork::FindRow(uint8_t channel, uint32_t domain) const {
  const auto row = std::ranges::find(rows_, DomainRow{channel, domain});
  return row == rows_.end() ? std::nullopt : std::optional(static_cast<size_t>(row - rows_.begin()));
}

void ClockNetwork::Send(const Sent& sent, std::span<const Horizon> horizons) {
  Deliver(sent.cycle);
  newest_ = sent.number;
  const bool is_latch = sent.cause == TriggerCause::kLatch;
  if (is_latch) readings_.assign(rows_.size(), std::nullopt);
  if (sent.cause) {
    ring_.Begin(
        scheduler_.Make({.number = sent.number, .cause = *sent.cause, .cycle = sent.cycle, .time_ns = sent.time_ns}));
  }
  const sim::Instant instant = sim::InstantAtCycle(sent.cycle);
  for (size_t row = 0; row < rows_.size(); ++row) {
    DomainMonitor& monitor = monitors_[row];
    const Horizon horizon = sent.cause ? horizons[row] : Horizon();
    for (uint32_t i = 1; i < sent.count; ++i) monitor.Receive({.sent = instant, .answers = false});
    const std::optional<ClockPacket> answer =
        monitor.Receive({.sent = instant,
                         .horizon = horizon.cycles,
                         .late = horizon.late,
                         .answers = sent.cause && scheduler_.IsSelected(*sent.cause, row)});
    if (is_latch) readings_[row] = answer;
  }
}

sim::Instant ClockNetwork::StepClock(uint32_t domain, uint64_t cycle, uint64_t hz) {
  // An answer on its way names an edge of the clock as it was.
  sim::Instant at = std::max(sim::InstantAtCycle(cycle), stepped_ + 1);
  for (const DomainMonitor& monitor : monitors_) at = std::max(at, monitor.answered() + 1);
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].domain == domain) monitors_[row].StepClock(at, hz);
  }
  return stepped_ = at;
}

void ClockNetwork::Deliver(uint64_t cycle) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    while (const std::optional<ClockPacket> packet = monitors_[row].TakeArrived(cycle)) {
      ring_.Add(row, *packet);
      if (!collects_) continue;
      const uint32_t number = newest_ - static_cast<uint16_t>(newest_ - packet->number);
      routers_[row].Add({.number = number, .clock = packet});
    }
  }
}

std::vector<TriggerPackets> ClockNetwork::PacketsFrom(uint32_t number, uint64_t cycle) {
  Deliver(cycle);
  return ring_.From(number);
}

std::vector<AggregatePacket> ClockNetwork::TakeReturns(uint64_t cycle) {
  Deliver(cycle);
  std::vector<AggregatePacket> packets;
  for (DomainRouter& router : routers_) {
    for (AggregatePacket& packet : router.Take()) packets.push_back(std::move(packet));
  }
  return packets;
}

}  // namespace sideband::mcu
