// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip_clocks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/snapshot.h"
#include "sim/wires/domain_clock.h"

namespace sideband::mcu {
namespace {

using absl::uint128;

constexpr uint64_t kWireNsMax = 1'000'000;
constexpr uint64_t kSyncEdgesMax = 16;
constexpr uint64_t kReferenceDelayNsMax = 1'000'000;
// Between the phases of one domain's clocks on neighbouring slices, in units of 2^-32 cycles: by the golden ratio.
constexpr uint32_t kPhaseStep = 0x9e3779b9;

absl::Status CheckDomain(const PipelineConfig& config, const DomainSpec& domain) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("wire_ns", domain.wire_max_ns, domain.wire_min_ns, kWireNsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("sync_edges", domain.sync_edges, 0, kSyncEdgesMax));
  sim::DomainClockSpec spec = domain.clock;
  spec.reference_hz = config.clock_hz;
  return sim::DomainClock::Create(spec).status();
}

// A collection unit is in one domain, so that its records are of one clock.
absl::Status CheckCcu(const CcuSpec& ccu, size_t domains) {
  for (const UlcSpec& ulc : ccu.ulcs) {
    SIDEBAND_RETURN_IF_ERROR(CheckRange("domain", ulc.domain, 0, domains));
    if (ulc.domain == ccu.ulcs[0].domain) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("unit '", ulc.name, "' is in another clock domain than '", ccu.ulcs[0].name, "'"));
  }
  return absl::OkStatus();
}

// Its clock is not stepped.
absl::Status CheckScheduler(const PipelineConfig& config) {
  const uint32_t domain = config.scheduler.domain;
  if (domain == 0 || config.domains[domain - 1].clock.levels.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the scheduler cannot run in domain '", config.domains[domain - 1].name, "', which has levels"));
}

absl::Status CheckNames(const PipelineConfig& config) {
  std::set<std::string> names;
  for (const DomainSpec& domain : config.domains) {
    if (domain.name.empty()) return absl::InvalidArgumentError("a clock domain has no name");
    if (names.insert(domain.name).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("domain '", domain.name, "' is listed twice"));
  }
  return absl::OkStatus();
}

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

// --- Domains ---------------------------------------------------------------------------------------------------------

absl::Status CheckDomains(const PipelineConfig& config) {
  const size_t domains = config.domains.size();
  SIDEBAND_RETURN_IF_ERROR(CheckRange("the scheduler's domain", config.scheduler.domain, 0, domains));
  if (domains == 0) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of domains", domains, 0, kDomainsMax - 1));
  SIDEBAND_RETURN_IF_ERROR(
      CheckRange("reference_delay_ns", config.scheduler.reference_delay_ns, 0, kReferenceDelayNsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckNames(config));
  SIDEBAND_RETURN_IF_ERROR(CheckScheduler(config));
  for (const DomainSpec& domain : config.domains) {
    SIDEBAND_RETURN_IF_ERROR(Named(absl::StrCat("domain '", domain.name, "'"), CheckDomain(config, domain)));
  }
  for (const CcuSpec& ccu : config.ccus) SIDEBAND_RETURN_IF_ERROR(Named(ccu.name, CheckCcu(ccu, domains)));
  return CheckRange("number of domains, each on its slices and on the device,", RowsOf(config).size(), 0,
                    kDomainRowsMax);
}

std::vector<DomainRow> RowsOf(const PipelineConfig& config) {
  std::set<DomainRow> rows;
  if (config.domains.empty()) return {};
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      if (ulc.domain != 0) rows.insert({ccu.channel, ulc.domain});
    }
  }
  return {rows.begin(), rows.end()};
}

std::shared_ptr<const sim::DomainClock> MakeClock(const PipelineConfig& config, const DomainRow& row) {
  const DomainSpec& domain = config.domains[row.domain - 1];
  sim::DomainClockSpec spec = domain.clock;
  spec.reference_hz = config.clock_hz;
  if (!domain.is_shared) {
    spec.seed += row.channel;
    spec.phase += row.channel * kPhaseStep;
  }
  return std::make_shared<const sim::DomainClock>(*sim::DomainClock::Create(spec));
}

sim::LocalClocks MakeClocks(const PipelineConfig& config, uint8_t channel) {
  if (config.domains.empty()) return {};
  std::vector<std::shared_ptr<const sim::DomainClock>> clocks = {nullptr};
  for (uint32_t domain = 1; domain <= config.domains.size(); ++domain) {
    clocks.push_back(MakeClock(config, {channel, domain}));
  }
  return sim::LocalClocks(std::move(clocks));
}

// --- The clocks of units ---------------------------------------------------------------------------------------------

size_t UnitClocks::Add(size_t wiring, uint32_t domain) {
  const auto is_same = [&](const Clock& clock) { return clock.wiring == wiring && clock.domain == domain; };
  const auto found = std::ranges::find_if(clocks_, is_same);
  if (found != clocks_.end()) return static_cast<size_t>(found - clocks_.begin());
  clocks_.push_back({.wiring = wiring, .domain = domain});
  return clocks_.size() - 1;
}

void UnitClocks::Attach(size_t wiring, const sim::WireSource& wires, uint64_t now) {
  wires_[wiring] = &wires;
  now_ = now;
  for (Clock& clock : clocks_) {
    if (clock.wiring == wiring) clock.edges = clock.edges_then = EdgesBefore(clock, clock.asked = now);
  }
}

void UnitClocks::AdvanceTo(uint64_t cycle) {
  now_ = cycle;
  for (Clock& clock : clocks_) clock.edges = Remembered(clock, cycle);
}

void UnitClocks::Forget() {
  for (Clock& clock : clocks_) {
    clock.asked = now_;
    clock.edges_then = clock.edges;
  }
}

uint64_t UnitClocks::EdgesBefore(const Clock& clock, uint64_t cycle) const {
  const sim::WireSource* const wires = wires_[clock.wiring];
  return clock.domain == 0 || wires == nullptr ? cycle : wires->CyclesBefore(clock.domain, cycle);
}

uint64_t UnitClocks::Remembered(Clock& clock, uint64_t cycle) const {
  if (clock.asked != cycle) {
    clock.asked = cycle;
    clock.edges_then = EdgesBefore(clock, cycle);
  }
  return clock.edges_then;
}

uint64_t UnitClocks::FirstAfter(size_t number, uint64_t edges, uint64_t end) const {
  Clock& clock = clocks_[number];
  if (clock.domain == 0) return std::min(end, now_ + edges);
  const uint64_t target = clock.edges + edges;
  uint64_t low = now_, low_edges = clock.edges, high = end, high_edges = Remembered(clock, end);
  if (high_edges < target) return end;
  // Steps of a steady clock's own length meet the cycle at once; halves bound the search for any other clock.
  for (bool halve = false; high - low > 1; halve = !halve) {
    const auto share = absl::Uint128Low64(absl::uint128(high - low) * (target - low_edges) / (high_edges - low_edges));
    const uint64_t probe = halve ? low + (high - low) / 2 : std::clamp(low + share, low + 1, high - 1);
    const uint64_t then = EdgesBefore(clock, probe);
    if (then >= target) {
      high = probe;
      high_edges = then;
    } else {
      low = probe;
      low_edges = then;
    }
  }
  return high;
}

// --- The network -----------------------------------------------------------------------------------------------------

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

// --- Bookmarks -------------------------------------------------------------------------------------------------------

void BookmarkRings::Serve(BlockId block, uint64_t served_ns, std::span<const uint64_t> counters) {
  const auto asked = pending_.extract(block);
  if (std::ranges::count(kept_, block, &KeptBookmark::block) >= static_cast<ptrdiff_t>(mailbox::kBookmarksKept)) {
    kept_.erase(std::ranges::find(kept_, block, &KeptBookmark::block));
  }
  kept_.push_back({.number = ++served_,
                   .block = block,
                   .asked = asked.mapped(),
                   .served_ns = served_ns,
                   .counters = {counters.begin(), counters.end()}});
}

void BookmarkRings::Forget(BlockId block) {
  pending_.erase(block);
  std::erase_if(kept_, [block](const KeptBookmark& kept) { return kept.block == block; });
}

}  // namespace sideband::mcu
