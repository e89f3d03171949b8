// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/domain_clock.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

using absl::uint128;

constexpr uint64_t kHzMin = 1000;
constexpr uint64_t kHzMax = 100'000'000'000;
constexpr uint64_t kBillion = 1'000'000'000;
constexpr uint64_t kWalkSegmentsPerSecond = 64;  // at most
constexpr int kLimbBits = 44;

struct Quotient {
  uint128 whole;
  uint128 rest;
};

// (a · b + c) / d, where the product may exceed 128 bits: a is below 2^112, the others are below 2^83, and so is the
// quotient times b / d.
Quotient Divide(uint128 a, uint128 b, uint128 c, uint128 d) {
  const uint128 high = a >> kLimbBits, low = a & ((uint128(1) << kLimbBits) - 1);
  if (high == 0) return {(low * b + c) / d, (low * b + c) % d};
  const uint128 upper = high * b;
  // The rest is below d, so that it fits with the lower limb.
  const uint128 lower = (upper % d << kLimbBits) + low * b + c;
  return {(upper / d << kLimbBits) + lower / d, lower % d};
}

uint128 DivideUp(uint128 a, uint128 b) { return (a + b - 1) / b; }

absl::Status CheckSteps(const DomainClockSpec& spec) {
  Instant last = 0;
  for (const ClockStep& step : spec.steps) {
    if (step.at <= last) return absl::InvalidArgumentError("steps must be in ascending order, after the start");
    SIDEBAND_RETURN_IF_ERROR(CheckRange("hz of a step", step.hz, kHzMin, kHzMax));
    last = step.at;
  }
  return absl::OkStatus();
}

absl::Status CheckGates(const DomainClockSpec& spec) {
  Instant last = 0;
  for (const ClockGate& gate : spec.gates) {
    if (gate.from < last || gate.to <= gate.from) {
      return absl::InvalidArgumentError("gates must be in ascending order, apart from each other, and not empty");
    }
    last = gate.to;
  }
  return absl::OkStatus();
}

absl::Status CheckLevels(const DomainClockSpec& spec) {
  for (const uint64_t level : spec.levels) SIDEBAND_RETURN_IF_ERROR(CheckRange("a level", level, kHzMin, kHzMax));
  const bool is_planned = !spec.steps.empty() || !spec.gates.empty();
  if (spec.levels.empty() || !is_planned) return absl::OkStatus();
  return absl::InvalidArgumentError("a clock with levels cannot have steps or gates");
}

absl::Status Check(const DomainClockSpec& spec) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("reference_hz", spec.reference_hz, kHzMin, kHzMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("hz", spec.hz, kHzMin, kHzMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("tolerance_ppb", spec.tolerance_ppb, 0, DomainClock::kTolerancePpbMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("wander_ppb_per_s", spec.wander_ppb_per_s, 0, DomainClock::kWanderMax));
  const auto tolerance = static_cast<int64_t>(spec.tolerance_ppb);
  if (spec.offset_ppb > tolerance || spec.offset_ppb < -tolerance) {
    return absl::InvalidArgumentError(
        absl::StrCat("offset_ppb is ", spec.offset_ppb, ", beyond the tolerance of ", spec.tolerance_ppb));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckSteps(spec));
  SIDEBAND_RETURN_IF_ERROR(CheckLevels(spec));
  return CheckGates(spec);
}

std::vector<uint64_t> Frequencies(const DomainClockSpec& spec) {
  std::vector<uint64_t> all = {spec.hz};
  for (const ClockStep& step : spec.steps) all.push_back(step.hz);
  all.insert(all.end(), spec.levels.begin(), spec.levels.end());
  return all;
}

uint64_t CommonHz(const DomainClockSpec& spec) {
  uint64_t common = spec.reference_hz;
  for (const uint64_t hz : Frequencies(spec)) common = std::gcd(common, hz);
  return common;
}

}  // namespace

absl::StatusOr<DomainClock> DomainClock::Create(const DomainClockSpec& spec) {
  SIDEBAND_RETURN_IF_ERROR(Check(spec));
  DomainClock clock;
  clock.nominal_hz_ = spec.hz;
  clock.common_hz_ = CommonHz(spec);
  clock.divisor_ = uint128(spec.reference_hz / clock.common_hz_) * kBillion << kInstantBits;
  clock.DrawWander(spec);
  clock.AddPieces(spec);
  SIDEBAND_RETURN_IF_ERROR(clock.FindLimits(spec));
  return clock;
}

// The second half of the walk is the first one backwards, so that it closes.
void DomainClock::DrawWander(const DomainClockSpec& spec) {
  const uint64_t even = kBillion + static_cast<uint64_t>(spec.offset_ppb);
  rates_ = {even};
  if (spec.wander_ppb_per_s > 0) {
    const uint64_t per_second = std::min<uint64_t>(kWalkSegmentsPerSecond, spec.wander_ppb_per_s);
    segment_ = (spec.reference_hz << kInstantBits) / per_second;
    wander_step_ = static_cast<uint32_t>(spec.wander_ppb_per_s / per_second);
    rates_.assign(kWanderSegments, even);
    for (size_t i = 1; i <= kWanderSegments / 2; ++i) {
      const bool is_up = (Mix(spec.seed + i) & 1) != 0;
      rates_[i] = is_up ? rates_[i - 1] + wander_step_ : rates_[i - 1] - wander_step_;
      rates_[(kWanderSegments - i) % kWanderSegments] = rates_[i];
    }
  }
  own_before_ = {0};
  for (const uint64_t rate : rates_) own_before_.push_back(own_before_.back() + uint128(rate) * segment_);
}

void DomainClock::AddPiece(Instant begin, uint64_t hz) {
  const Piece& last = pieces_.back();
  const uint128 own = OwnTime(begin);
  const Quotient phase = Divide(own - last.own, last.hz, last.phase, divisor_);
  pieces_.push_back({begin, hz, own, last.edges + absl::Uint128Low64(phase.whole), phase.rest});
}

void DomainClock::AddPieces(const DomainClockSpec& spec) {
  pieces_.push_back({0, spec.hz / common_hz_, 0, 0, divisor_ * spec.phase >> 32});
  for (const ClockStep& step : spec.steps) changes_.push_back(step.at);
  for (const ClockGate& gate : spec.gates) changes_.insert(changes_.end(), {gate.from, gate.to});
  std::ranges::sort(changes_);
  changes_.erase(std::unique(changes_.begin(), changes_.end()), changes_.end());
  for (const Instant& change : changes_) {
    uint64_t hz = spec.hz;
    for (const ClockStep& step : spec.steps) hz = step.at <= change ? step.hz : hz;
    const bool is_gated =
        std::ranges::any_of(spec.gates, [&](const ClockGate& gate) { return gate.from <= change && change < gate.to; });
    AddPiece(change, is_gated ? 0 : hz / common_hz_);
  }
}

void DomainClock::Step(Instant at, uint64_t hz) {
  AddPiece(at, hz / common_hz_);
  changes_.push_back(at);
  // In halves, so that a step costs a constant time on average.
  if (changes_.size() < 2 * kStepsKept) return;
  changes_.erase(changes_.begin(), changes_.begin() + kStepsKept);
  pieces_.erase(pieces_.begin(), pieces_.begin() + kStepsKept);
}

// The range of the clock's own time against a steady one's, in own time.
uint128 DomainClock::WanderRange() const {
  absl::int128 low = 0, high = 0;
  for (size_t i = 0; i < rates_.size(); ++i) {
    const absl::int128 deviation = absl::int128(own_before_[i] * rates_.size()) - absl::int128(own_before_.back() * i);
    low = std::min(low, deviation);
    high = std::max(high, deviation);
  }
  return DivideUp(uint128(high - low), rates_.size());
}

absl::Status DomainClock::FindLimits(const DomainClockSpec& spec) {
  const std::vector<uint64_t> frequencies = Frequencies(spec);
  const auto [slowest, fastest] = std::ranges::minmax(frequencies);
  const uint64_t ppb = spec.tolerance_ppb + uint64_t{wander_step_} * kWanderSegments / 2;
  const uint128 cycle = divisor_ * common_hz_;
  const uint128 shortest = cycle / (uint128(fastest) * (kBillion + ppb));
  const uint128 longest = DivideUp(cycle, uint128(slowest) * (kBillion - ppb));
  if (shortest == 0) return absl::InvalidArgumentError(absl::StrCat("hz is ", fastest, ", too much for the reference"));
  // Half of the range on either side, and a unit for the rounding of each end.
  const uint128 wander = wander_step_ == 0 ? 0 : DivideUp(WanderRange() / 2, kBillion - ppb) + 2;
  if (wander > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("wander_ppb_per_s is ", spec.wander_ppb_per_s,
                                                   ", too much for a reference of ", spec.reference_hz, " Hz"));
  }
  slowest_ = absl::Uint128Low64(longest);
  limits_ = {.shortest = absl::Uint128Low64(shortest),
             .longest = spec.gates.empty() ? slowest_ : 0,
             .wander = static_cast<uint32_t>(absl::Uint128Low64(wander)),
             .announces = spec.announces || (changes_.empty() && spec.levels.empty())};
  return absl::OkStatus();
}

uint128 DomainClock::OwnTime(Instant instant) const {
  const auto since = uint128(instant);
  const uint128 turn = uint128(segment_) * rates_.size();
  const uint128 within = since % turn;
  const size_t segment = absl::Uint128Low64(within / segment_);
  return since / turn * own_before_.back() + own_before_[segment] + within % segment_ * rates_[segment];
}

// The first instant at which the own time is `own` or more.
Instant DomainClock::InstantAt(uint128 own) const {
  const uint128 turns = own / own_before_.back(), rest = own % own_before_.back();
  const auto after = std::ranges::upper_bound(own_before_, rest);
  const auto segment = static_cast<size_t>(after - own_before_.begin()) - 1;
  const uint128 begin = turns * rates_.size() + segment;
  return Instant(begin * segment_ + DivideUp(rest - own_before_[segment], rates_[segment]));
}

uint64_t DomainClock::EdgesBefore(Instant instant) const {
  if (instant <= 0) return 0;
  const Instant last = instant - 1;  // edges up to and including it
  const auto after = std::ranges::upper_bound(pieces_, last, {}, &Piece::begin);
  const Piece& piece = *std::prev(after);
  const Quotient phase = Divide(OwnTime(last) - piece.own, piece.hz, piece.phase, divisor_);
  return piece.edges + absl::Uint128Low64(phase.whole);
}

Instant DomainClock::InstantOf(uint64_t edge) const {
  const auto after = std::ranges::upper_bound(pieces_, edge, {}, &Piece::edges);
  const Piece& piece = *std::prev(after);
  // The phase until the edge is cycles · divisor - piece.phase, which is not negative.
  const uint64_t cycles = edge + 1 - piece.edges;
  const Quotient own = Divide(cycles - 1, divisor_, divisor_ - piece.phase + piece.hz - 1, piece.hz);
  return InstantAt(piece.own + own.whole);
}

bool DomainClock::ChangedBetween(Instant after, Instant until) const {
  const auto change = std::ranges::upper_bound(changes_, after);
  return change != changes_.end() && *change <= until;
}

}  // namespace sideband::sim
