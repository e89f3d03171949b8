// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_clocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/numeric/int128.h"

namespace sideband::daemon {
namespace {

using clocks::AddResult;
using clocks::kTicksPerCycle;

constexpr uint64_t kBillion = 1'000'000'000;
// No product overflows.
constexpr uint64_t kReferenceHzMax = 100 * kBillion;

// The first cycle of the reference clock that has this time, and how many have it: of a clock above 1 GHz several do.
uint64_t FirstCycleAt(uint64_t time_ns, uint64_t hertz) {
  return absl::Uint128Low64((absl::uint128(time_ns) * hertz + kBillion - 1) / kBillion);
}
uint64_t CyclesOfOneTime(uint64_t hertz) { return std::max<uint64_t>(1, (hertz + kBillion - 1) / kBillion); }

clocks::Ticks TicksIn(absl::Duration time, uint64_t hertz) {
  return clocks::Ticks(static_cast<uint64_t>(absl::ToDoubleSeconds(time) * static_cast<double>(hertz))) *
         kTicksPerCycle;
}

// The declared limits, of packets whose trigger is known up to the nanosecond.
clocks::ClockLimits LimitsOf(const mailbox::ClockDomain& domain, uint64_t reference_hz) {
  clocks::ClockLimits limits = clocks::LimitsOf(domain);
  // A sum that overflows is refused as what it is beyond: a bar that is out of range.
  const int64_t later = static_cast<int64_t>(CyclesOfOneTime(reference_hz) - 1) * kTicksPerCycle;
  if (limits.bar_high <= clocks::kBarMax) limits.bar_high += later;
  return limits;
}

// A VM may have ended between two catalogues, so that the slices of such VMs are not known.
bool HasHadConfidentialVm(const Topology& topology) {
  return topology.has_had_confidential_vm() ||
         std::ranges::any_of(topology.catalog().vms, &mailbox::VmInfo::confidential);
}

// Of the segments of a device's own fits (proto/mailbox/README.md, "Hulls").
constexpr absl::Duration kHullSegmentMax = absl::Seconds(30);

// Whether what the device's fit has of its newest edge is possible by the daemon's, and no older than that.
bool IsCompatible(const clocks::ClockStrip& hull, const clocks::ClockStrip& strip, uint64_t edge_min) {
  const auto newest = hull.newest_edge();
  if (!newest || *newest < edge_min) return false;
  const clocks::InstantRange by_hull = hull.BoundAt(*newest).range, by_strip = strip.BoundAt(*newest).range;
  return by_hull.low <= by_strip.high && by_strip.low <= by_hull.high;
}

double Hertz(absl::int128 period, uint64_t reference_hz) {
  const double cycles =
      static_cast<double>(period) / static_cast<double>(kTicksPerCycle) / std::exp2(clocks::kPeriodFractionBits);
  return static_cast<double>(reference_hz) / cycles;
}

}  // namespace

bool DeviceClocks::IsSame(const mailbox::Catalog& catalog, uint64_t boot_id, absl::Duration segment_max) const {
  return boot_id == boot_id_ && segment_max == segment_max_ && domains_.size() == catalog.clock_domains.size() &&
         std::ranges::equal(domains_, catalog.clock_domains, {}, &Domain::declared);
}

void DeviceClocks::StartAnew(const mailbox::Catalog& catalog, uint64_t boot_id, const Inputs& inputs) {
  boot_id_ = boot_id;
  segment_max_ = inputs.segment_max;
  created_ = inputs.latched_after;
  reference_hz_ = catalog.reference_clock_hz;
  domains_.clear();
  if (reference_hz_ > kReferenceHzMax) return;
  for (const mailbox::ClockDomain& declared : catalog.clock_domains) {
    Domain& domain = domains_.emplace_back(Domain{.declared = declared, .strip = {}, .numbers = {}});
    auto strip = clocks::ClockStrip::Create(LimitsOf(declared, reference_hz_),
                                            {.segment_max = TicksIn(segment_max_, reference_hz_)});
    if (strip.ok()) domain.strip = *std::move(strip);
  }
}

void DeviceClocks::Add(const mailbox::Snapshot& snapshot, const mailbox::ClockReading& reading, Domain& domain) const {
  const clocks::LatchInstant latch{.trigger_id = snapshot.trigger_id,
                                   .reference_cycle = FirstCycleAt(snapshot.reference_time_ns, reference_hz_)};
  clocks::ClockPacket packet = clocks::PacketOf(domain.declared, latch, reading, domain.numbers);
  if (packet.arrival)
    *packet.arrival = *packet.arrival + clocks::Ticks(CyclesOfOneTime(reference_hz_) - 1) * kTicksPerCycle;
  packet.changed |= domain.has_changed;
  const auto added = domain.strip->Add(packet);
  const bool is_used = added.ok() && *added != AddResult::kOutside && *added != AddResult::kResynchronise;
  domain.has_changed = !is_used && packet.changed;
  domain.edge_before = std::exchange(domain.edge, reading.local_clock);
  if (!is_used) ++domain.unused;
}

ClockState DeviceClocks::StateOf(const Domain& domain, bool is_stopped) const {
  ClockState state{.is_stopped = is_stopped, .is_unsound = !domain.strip || domain.strip->unsound()};
  state.created = created_;
  state.unused_readings = domain.unused;
  if (!domain.strip) return state;
  state.segments = domain.strip->counts().segments;
  state.refuted_segments = domain.strip->counts().refuted;
  if (!state.is_unsound) Show(*domain.strip, state);
  return state;
}

void DeviceClocks::Show(const clocks::ClockStrip& strip, ClockState& state) const {
  const auto newest = strip.newest_edge();
  if (!newest) return;
  const clocks::InstantRange range = strip.BoundAt(*newest).range;
  if (range.IsBounded()) {
    const double cycles = static_cast<double>(range.width()) / static_cast<double>(kTicksPerCycle);
    const double bound = cycles / 2 / static_cast<double>(reference_hz_);
    state.error_bound_s = std::min(bound, state.error_bound_s.value_or(bound));
  }
  const auto period = strip.Period();
  if (!period || period->low <= 0) return;
  const ClockState::Frequency by_strip{.lower = Hertz(period->high, reference_hz_),
                                       .upper = Hertz(period->low, reference_hz_)};
  if (!state.frequency) state.frequency = by_strip;
  const ClockState::Frequency both{.lower = std::max(state.frequency->lower, by_strip.lower),
                                   .upper = std::min(state.frequency->upper, by_strip.upper)};
  // In two segments of a clock that wanders the lines may be others.
  if (both.lower <= both.upper) state.frequency = both;
}

// The device's fit has the packets that were read, and more.
void DeviceClocks::Narrow(const mailbox::ClockHull& hull, Domain& domain, ClockState& state) const {
  const auto parts = clocks::HullsOf(hull);
  const auto strip = parts
                         ? clocks::ClockStrip::OfHulls(clocks::LimitsOf(domain.declared),
                                                       {.segment_max = TicksIn(kHullSegmentMax, reference_hz_)}, *parts)
                         : absl::InvalidArgumentError("hulls beyond what can be written");
  if (!strip.ok() || !IsCompatible(*strip, *domain.strip, domain.edge_before)) {
    state.unused_readings = ++domain.unused;
    return;
  }
  Show(*strip, state);
}

std::vector<ClockState> DeviceClocks::Follow(const Topology& topology, const mailbox::Snapshot& snapshot,
                                             const Inputs& inputs) {
  const mailbox::Catalog& catalog = topology.catalog();
  if (snapshot.boot_id != boot_id_) is_withheld_ = false;
  is_withheld_ = is_withheld_ || HasHadConfidentialVm(topology);
  if (!IsSame(catalog, snapshot.boot_id, inputs.segment_max)) StartAnew(catalog, snapshot.boot_id, inputs);
  std::vector<ClockState> states;
  if (reference_hz_ == 0 || reference_hz_ > kReferenceHzMax || snapshot.clocks.size() != domains_.size()) return states;
  for (size_t d = 0; d < domains_.size(); ++d) {
    const std::optional<mailbox::ClockReading>& reading = snapshot.clocks[d];
    if (reading && domains_[d].strip) Add(snapshot, *reading, domains_[d]);
    states.push_back(is_withheld_ ? ClockState{.is_withheld = true} : StateOf(domains_[d], !reading));
  }
  if (!inputs.hulls || inputs.hulls->boot_id != boot_id_ || is_withheld_) return states;
  for (const mailbox::ClockHull& hull : inputs.hulls->hulls) {
    if (hull.domain >= domains_.size()) continue;
    ClockState& state = states[hull.domain];
    if (!state.is_unsound) Narrow(hull, domains_[hull.domain], state);
  }
  return states;
}

}  // namespace sideband::daemon
