// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_clocks.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "proto/clocks/clock_limits.h"

namespace sideband::daemon {
namespace {

using clocks::AddResult;
using clocks::Instant;
using clocks::kTicksPerCycle;
using clocks::Ticks;

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

// The longest segment of a device's own fits (proto/mailbox/stream_format.md, "Hulls").
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

// An edge of the device's clock is a nanosecond of its reference time, and a "cycle" here one of the raw clock.
constexpr uint64_t kMillion = 1'000'000;

Instant InstantAt(absl::Duration raw) { return Instant(Ticks(absl::ToInt64Nanoseconds(raw)) * kTicksPerCycle); }

// In whole nanoseconds, rounded down.
absl::Duration RawBefore(Instant instant) {
  const Ticks ticks = instant.ticks();
  const Ticks nanoseconds = ticks >= 0 ? ticks / kTicksPerCycle : (ticks + 1) / kTicksPerCycle - 1;
  return absl::Nanoseconds(static_cast<int64_t>(nanoseconds));
}

// From the nearest line a frequency that changes by w in a second is w·T²/16 at most.
uint32_t WanderOf(const ClockSettings& settings) {
  const double seconds = absl::ToDoubleSeconds(settings.segment_max);
  return static_cast<uint32_t>(std::ceil((settings.host_wander_ppb * seconds * seconds / 16 + 1) * kTicksPerCycle));
}

clocks::ClockLimits LimitsOf(const ClockSettings& settings) {
  const uint64_t tolerance = (uint64_t{kTicksPerCycle} * settings.host_ppm_max + kMillion - 1) / kMillion;
  const uint64_t longest = kTicksPerCycle + tolerance;
  // A time is rounded down, so that its edge is up to a nanosecond before the latch.
  return {.period_shortest = kTicksPerCycle - tolerance,
          .period_longest = longest,
          .bar_low = -static_cast<int64_t>(longest),
          .bar_high = 0,
          .wander = WanderOf(settings),
          .announces = true};
}

// A mean rate is measured over this time, up to twice as long.
constexpr absl::Duration kMeanOver = absl::Minutes(5);
// A clock that contradicts its limits has the widest that can be configured.
constexpr double kUnknownPpm = 10'000;

// Between two latches, each of which may have been anywhere in its exchange. Times are rounded down to nanoseconds.
std::optional<ReferenceRate> RateBetween(const BracketedLatch& from, const BracketedLatch& to) {
  const double shortest = absl::ToDoubleNanoseconds(to.raw_before - from.raw_after);
  const double longest = absl::ToDoubleNanoseconds(to.raw_after - from.raw_before);
  if (shortest <= 0) return std::nullopt;
  const auto counted = static_cast<double>(static_cast<int64_t>(to.reference_time_ns - from.reference_time_ns));
  return ReferenceRate{.lower_ppm = ((counted - 1) / longest - 1) * kMillion,
                       .upper_ppm = ((counted + 1) / shortest - 1) * kMillion};
}

absl::Duration ExchangeOf(const BracketedLatch& latch) { return latch.raw_after - latch.raw_before; }

// Half of the exchange.
HostInstant OfExchange(const BracketedLatch& latch) {
  return {.raw = (latch.raw_before + latch.raw_after) / 2, .error = (latch.raw_after - latch.raw_before) / 2};
}

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr double kWholeInPpm = 1e6;
constexpr size_t kPulsesKept = 8;
// 73 years: differences of such times are far from the limits of their type.
constexpr uint64_t kTimeMaxNs = uint64_t{1} << 61;

uint64_t TimeOfCycle(uint64_t cycle, uint64_t hertz) {
  return absl::Uint128Low64(std::min<absl::uint128>(absl::uint128(cycle) * kNsPerSecond / hertz, kTimeMaxNs + 1));
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

void HostClock::Use(const ClockSettings& settings) {
  const auto limits = [](const ClockSettings& of) {
    return std::tuple(of.host_ppm_max, of.host_wander_ppb, of.segment_max);
  };
  const bool is_same = limits(settings) == limits(settings_);
  settings_ = settings;
  if (!is_same) strip_.reset();
}

void HostClock::StartAnew(uint64_t boot_id) {
  boot_id_ = boot_id;
  // Settings are of the daemon itself: they are possible.
  strip_ = *clocks::ClockStrip::Create(
      LimitsOf(settings_), {.segment_max = Ticks(absl::ToInt64Nanoseconds(settings_.segment_max)) * kTicksPerCycle});
  first_.reset();
  mean_.reset();
  is_shown_ = is_refuted_ = false;
}

HostClock::Fit HostClock::AddToStrip(const BracketedLatch& latch) {
  // The raw clock stands still meanwhile, and the device's does not.
  if (absl::AbsDuration(latch.suspended - suspended_) > kSuspendMin) {
    strip_->Restart();
    first_.reset();
  }
  suspended_ = latch.suspended;
  const auto added = strip_->Add({.trigger = ++latches_,
                                  .reference = InstantAt(latch.raw_before),
                                  .edge = latch.reference_time_ns,
                                  .arrival = InstantAt(latch.raw_after) + kTicksPerCycle});
  if (!added.ok()) return absl::IsDataLoss(added.status()) ? Fit::kContradicts : Fit::kUnusable;
  const bool is_outside = *added == AddResult::kOutside || *added == AddResult::kResynchronise;
  return is_outside || strip_->unsound() ? Fit::kContradicts : Fit::kUsed;
}

void HostClock::MeasureFrom(const BracketedLatch& latch) {
  first_ = middle_ = latch;
  mean_.reset();
}

void HostClock::MeasureRate(const BracketedLatch& latch) {
  if (!first_) return MeasureFrom(latch);
  mean_ = RateBetween(*first_, latch);
  if (latch.raw_before - middle_->raw_before < kMeanOver) return;
  first_ = std::exchange(middle_, latch);
}

bool HostClock::IsBeyond(const std::optional<ReferenceRate>& rate) const {
  const double most = settings_.host_ppm_max;
  return rate && (rate->lower_ppm > most || rate->upper_ppm < -most);
}

// A clock beyond its limits fits them for a while in each segment: the fit would be wrong, and nothing would show it.
void HostClock::JudgeRate(const BracketedLatch& latch, bool contradicts) {
  const double most = settings_.host_ppm_max;
  MeasureRate(latch);
  if (contradicts || IsBeyond(mean_) || IsBeyond(FittedRate())) {
    // A quotient over a step is not a rate.
    if (contradicts && !is_refuted_) MeasureFrom(latch);
    is_refuted_ = true;
    is_shown_ = false;
  } else if (mean_ && mean_->lower_ppm >= -most && mean_->upper_ppm <= most) {
    is_refuted_ = false;
    is_shown_ = true;
  } else if (!is_shown_ && ExchangeOf(latch) * 2 <= ExchangeOf(*first_)) {
    MeasureFrom(latch);  // a short exchange shows it sooner
  }
}

HostInstant HostClock::Add(const BracketedLatch& latch) {
  if (!strip_ || latch.boot_id != boot_id_) StartAnew(latch.boot_id);
  const Fit fit = AddToStrip(latch);
  JudgeRate(latch, fit == Fit::kContradicts);
  const HostInstant exchange = OfExchange(latch);
  if (fit != Fit::kUsed || !is_shown_) return exchange;
  const clocks::InstantRange range = strip_->BoundAt(latch.reference_time_ns).range;
  if (!range.IsBounded()) return exchange;
  // The latch is in the nanosecond that begins with the edge.
  const absl::Duration low = std::max(RawBefore(range.low), latch.raw_before);
  const absl::Duration high = std::min(RawBefore(range.high) + absl::Nanoseconds(3), latch.raw_after);
  if (low > high) return exchange;
  return {.raw = low + (high - low) / 2, .error = (high - low) / 2};
}

std::optional<ReferenceRate> HostClock::FittedRate() const {
  const auto period = strip_ && !strip_->unsound() ? strip_->Period() : std::nullopt;
  if (!period || period->low <= 0) return std::nullopt;
  const auto ppm = [](absl::int128 raw_period) {
    const double nanoseconds =
        static_cast<double>(raw_period) / static_cast<double>(kTicksPerCycle) / std::exp2(clocks::kPeriodFractionBits);
    return (1 / nanoseconds - 1) * kMillion;
  };
  return ReferenceRate{.lower_ppm = ppm(period->high), .upper_ppm = ppm(period->low)};
}

std::optional<ReferenceRate> HostClock::Rate() const {
  if (is_refuted_) return mean_;
  const auto fitted = FittedRate();
  if (!fitted) return std::nullopt;
  const double most = settings_.host_ppm_max;
  return ReferenceRate{.lower_ppm = std::max(fitted->lower_ppm, -most), .upper_ppm = std::min(fitted->upper_ppm, most)};
}

double HostClock::ppm_max() const {
  if (!is_refuted_) return settings_.host_ppm_max;
  return mean_ ? std::max({kUnknownPpm, -mean_->lower_ppm, mean_->upper_ppm}) : kUnknownPpm;
}

LineBook::Delay LineBook::DelayOf(const ClockSettings& settings, uint64_t reference_hz) {
  const double rate = settings.host_ppm_max / kWholeInPpm;
  const double cycle_ns = static_cast<double>(kNsPerSecond) / static_cast<double>(reference_hz);
  const double least = absl::ToDoubleNanoseconds(settings.line.wire_min) * (1 - rate);
  const double most = absl::ToDoubleNanoseconds(settings.line.wire_max) * (1 + rate) + cycle_ns;
  return {static_cast<int64_t>(std::floor(least)), static_cast<int64_t>(std::ceil(most))};
}

void LineBook::AddPulse(const LatchedPulse& latch, double ppm_max, Device& device) {
  const HostInstant& latched = latch.latched;
  device.known_to = latched.raw - latched.error;
  const bool is_possible = latch.is_sound && latch.reference_time_ns <= kTimeMaxNs;
  if (!is_possible) device.pulses.clear();
  if (!is_possible || !latch.pulse) return;
  const uint64_t number = latch.pulse->pulses;
  if (!device.pulses.empty() && device.pulses.back().number == number) return;
  const uint64_t time_ns = TimeOfCycle(latch.pulse->reference_cycle, latch.reference_hz);
  if (time_ns > latch.reference_time_ns) return device.pulses.clear();
  // Earlier pulses are of no use where pulses in between are missing.
  if (!device.pulses.empty() && device.pulses.back().number + 1 != number) device.pulses.clear();
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(latch.reference_time_ns - time_ns));
  const absl::Duration error = latched.error + since * (ppm_max / kWholeInPpm) + absl::Nanoseconds(2);
  const absl::Duration middle = latched.raw - since;
  device.pulses.push_back({number, latch.pulse->is_own, time_ns, {middle - error, middle + error}});
  if (device.pulses.size() > kPulsesKept) device.pulses.pop_front();
}

LineBook::Interval LineBook::SentAt(const Pulse& seen, const Delay& delay) {
  // By the device's clock, so that its rate is to be added: twice the wire is far beyond.
  return {seen.at.low - absl::Nanoseconds(2 * delay.max_ns), seen.at.high};
}

bool LineBook::IsKnown(const Interval& at, const Device& device) {
  return at.high + absl::Nanoseconds(2 * device.delay.max_ns) < device.known_to;
}

const LineBook::Pulse* LineBook::OnlyPulseAt(const Interval& at, const Device& device) {
  if (device.pulses.empty() || !IsKnown(at, device)) return nullptr;
  // A pulse that the device has seen was sent a delay before.
  const Interval seen{at.low, at.high + absl::Nanoseconds(2 * device.delay.max_ns)};
  // Another one may have been just before the first that is known, unless there was none.
  const Pulse& first = device.pulses.front();
  if (first.number != 1 && first.at.high >= seen.low) return nullptr;
  const auto may_be = [&](const Pulse& pulse) { return pulse.at.Overlaps(pulse.is_own ? at : seen); };
  if (std::ranges::count_if(device.pulses, may_be) != 1) return nullptr;
  const Pulse& found = *std::ranges::find_if(device.pulses, may_be);
  return found.is_own ? &found : nullptr;
}

std::string LineBook::SenderOf(const Interval& at, const std::string& receiver, const TriggerLineSettings& line) const {
  std::string sender;
  for (const auto& [name, device] : devices_) {
    const bool may_send = line.driver.empty() || name == line.driver;
    if (device.line != line.name || name == receiver || !may_send) continue;
    // A pulse that it has sent there may not be reported yet.
    if (!IsKnown(at, device)) return "";
    if (OnlyPulseAt(at, device) == nullptr) continue;
    if (!sender.empty()) return "";
    sender = name;
  }
  return sender;
}

void LineBook::Join(const Pulse& pulse, const std::string& sender, Device& device) const {
  const Device& driver = devices_.at(sender);
  const Pulse& sent = *OnlyPulseAt(SentAt(pulse, device.delay), driver);
  // Both times are rounded down.
  const auto apart = static_cast<int64_t>(pulse.time_ns) - static_cast<int64_t>(sent.time_ns);
  const Pair found{.driver = sender,
                   .driver_boot_id = driver.boot_id,
                   .number = pulse.number,
                   .seen = pulse.at.high,
                   .driver_time_ns = sent.time_ns,
                   .offset_low_ns = apart - device.delay.max_ns - 1,
                   .offset_high_ns = apart - device.delay.min_ns + 1};
  const std::optional<Pair> before = std::exchange(device.pair, found);
  device.rate.reset();
  if (!before || before->driver != sender || before->driver_boot_id != driver.boot_id) return;
  if (sent.time_ns <= before->driver_time_ns) return;
  const auto time = static_cast<double>(sent.time_ns - before->driver_time_ns);
  device.rate = {
      .lower_ppm = static_cast<double>(found.offset_low_ns - before->offset_high_ns) / time * kWholeInPpm,
      .upper_ppm = static_cast<double>(found.offset_high_ns - before->offset_low_ns) / time * kWholeInPpm,
  };
}

void LineBook::Forget(const LatchedPulse& latch) {
  const bool is_suspended = absl::AbsDuration(latch.suspended - suspended_) > kSuspendMin;
  suspended_ = latch.suspended;
  if (is_suspended) devices_.clear();
  std::erase_if(devices_, [&](const auto& entry) { return entry.second.known_to < latch.latched.raw - kFreshFor; });
}

std::optional<LineOffset> LineBook::OffsetOf(const Device& device, absl::Duration raw) const {
  if (!device.pair || device.pulses.empty() || device.pulses.back().is_own) return std::nullopt;
  const Pair& pair = *device.pair;
  const auto driver = devices_.find(pair.driver);
  // The clock that it is about may be another one by now.
  if (driver == devices_.end() || driver->second.boot_id != pair.driver_boot_id) return std::nullopt;
  if (raw - pair.seen > kFreshFor) return std::nullopt;
  return LineOffset{.driver = pair.driver,
                    .offset_ns = pair.offset_low_ns + (pair.offset_high_ns - pair.offset_low_ns) / 2,
                    .error_ns = static_cast<uint64_t>(pair.offset_high_ns - pair.offset_low_ns + 1) / 2,
                    .rate = device.rate};
}

std::optional<LineOffset> LineBook::Note(const std::string& name, const ClockSettings& settings,
                                         const LatchedPulse& latch) {
  absl::MutexLock lock(&mu_);
  Forget(latch);
  const TriggerLineSettings& line = settings.line;
  if (line.name.empty() || latch.reference_hz == 0) {
    devices_.erase(name);
    return std::nullopt;
  }
  Device& device = devices_[name];
  const Delay delay = DelayOf(settings, latch.reference_hz);
  if (device.line != line.name || device.boot_id != latch.boot_id || device.delay != delay) {
    device = {.line = line.name, .boot_id = latch.boot_id, .delay = delay};
  }
  AddPulse(latch, settings.host_ppm_max, device);
  for (const Pulse& pulse : device.pulses) {
    if (pulse.is_own || (device.pair && pulse.number <= device.pair->number)) continue;
    const std::string sender = SenderOf(SentAt(pulse, delay), name, line);
    if (!sender.empty()) Join(pulse, sender, device);
  }
  return OffsetOf(device, latch.latched.raw);
}

}  // namespace sideband::daemon
