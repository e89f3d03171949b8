// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/host_clock.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "proto/clocks/clock_limits.h"

namespace sideband::daemon {
namespace {

using clocks::AddResult;
using clocks::Instant;
using clocks::kTicksPerCycle;
using clocks::Ticks;

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
// Of a clock that contradicts its limits: the widest that can be configured.
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

}  // namespace

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
    // What was measured over a step is no rate.
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

}  // namespace sideband::daemon
