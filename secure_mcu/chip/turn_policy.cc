// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/turn_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr int kFractionBits = 20;
constexpr uint64_t kPerMille = 1000;

using Uint128 = unsigned __int128;

Uint128 Indicator(const IndicatorSample& sample) {
  if (sample.cycles == 0) return 0;
  return (static_cast<Uint128>(sample.instructions) << kFractionBits) / sample.cycles;
}

void Append(RotationPeriod period, std::vector<RotationPeriod>& periods) {
  if (!periods.empty() && periods.back().kind == period.kind) {
    periods.back().end = period.end;
  } else {
    periods.push_back(period);
  }
}

// In the ratio of the needs, where that is at least 1: the sets below get 1, and the others share the rest.
std::vector<double> Divide(std::span<const double> needs, double turns) {
  std::vector<double> shares(needs.size(), 1);
  std::vector<bool> is_least(needs.size());
  for (bool changed = true; changed;) {
    changed = false;
    double left = turns, needed = 0;
    for (size_t i = 0; i < needs.size(); ++i) (is_least[i] ? left : needed) += is_least[i] ? -1 : needs[i];
    for (size_t i = 0; i < needs.size(); ++i) {
      if (is_least[i]) continue;
      shares[i] = left * needs[i] / needed;
      if (shares[i] >= 1) continue;
      shares[i] = 1;
      is_least[i] = changed = true;
    }
  }
  return shares;
}

// By largest remainders, ties to the first.
std::vector<uint32_t> Round(const std::vector<double>& shares, uint32_t turns) {
  std::vector<uint32_t> whole;
  for (const double share : shares) whole.push_back(static_cast<uint32_t>(share));
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto remainder = [&](size_t i) { return shares[i] - std::floor(shares[i]); };
  std::ranges::stable_sort(order, std::ranges::greater{}, remainder);
  uint32_t sum = std::accumulate(whole.begin(), whole.end(), uint32_t{0});
  for (size_t i = 0; i < order.size() && sum < turns; ++i, ++sum) ++whole[order[i]];
  return whole;
}

double VarianceOf(std::span<const double> needs, const std::vector<uint32_t>& turns) {
  const uint32_t round = std::accumulate(turns.begin(), turns.end(), uint32_t{0});
  double variance = 0;
  for (size_t i = 0; i < needs.size(); ++i) variance += needs[i] * needs[i] * round / turns[i];
  return variance;
}

ClassifierOptions OptionsOf(const mailbox::RotationSettings& settings) {
  return {.threshold_per_mille = settings.threshold_per_mille, .step = settings.step};
}

}  // namespace

RotationClass ClassOfWindow(std::span<const IndicatorSample> window, uint32_t threshold_per_mille) {
  Uint128 low = ~Uint128{0}, high = 0, sum = 0;
  for (const IndicatorSample& sample : window) {
    const Uint128 value = Indicator(sample);
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  if (sum == 0) return RotationClass::kStable;
  // At most 2^84 each, so that windows of up to 2^11 values and thresholds up to 2^32 cannot overflow.
  const bool exceeds = (high - low) * window.size() * kPerMille > sum * threshold_per_mille;
  return exceeds ? RotationClass::kFluctuating : RotationClass::kStable;
}

std::vector<RotationPeriod> ClassifyRun(std::span<const IndicatorSample> run, const ClassifierOptions& options) {
  if (run.empty()) return {};
  const size_t step = std::max<size_t>(options.step, 1);
  if (step >= run.size()) return {{0, run.size(), ClassOfWindow(run, options.threshold_per_mille)}};
  std::vector<RotationPeriod> periods;
  for (size_t cur = 0; step < run.size() - cur; cur += step) {
    Append({cur, cur + step, ClassOfWindow(run.subspan(cur, step + 1), options.threshold_per_mille)}, periods);
  }
  periods.back().end = run.size();
  return periods;
}

RotationClass ClassOf(std::span<const RotationPeriod> periods, size_t interval) {
  const auto ends_after = [interval](const RotationPeriod& period) { return interval < period.end; };
  const auto found = std::ranges::find_if(periods, ends_after);
  if (found != periods.end()) return found->kind;
  return periods.empty() ? RotationClass::kStable : periods.back().kind;
}

OnlineRotationClass::OnlineRotationClass(const ClassifierOptions& options)
    : threshold_per_mille_(options.threshold_per_mille), size_(std::max<size_t>(options.step, 1) + 1) {}

void OnlineRotationClass::Add(const IndicatorSample& sample) {
  if (window_.size() < size_) {
    window_.push_back(sample);
    return;
  }
  window_[oldest_] = sample;
  oldest_ = (oldest_ + 1) % size_;
}

RotationClass ClassAt(const OwnPeriods& periods, uint64_t own) {
  const auto found = std::ranges::upper_bound(periods, own, {}, &OwnPeriod::end);
  return found == periods.end() ? periods.back().kind : found->kind;
}

RunRecorder::RunRecorder(const ClassifierOptions& options)
    : threshold_per_mille_(options.threshold_per_mille), step_(std::max<size_t>(options.step, 1)) {}

// Neighbours share a sample, which is not of the first one's period.
void RunRecorder::Add(const IndicatorSample& sample, uint64_t end) {
  window_.push_back(sample);
  if (window_.size() > step_) {
    const RotationClass kind = ClassOfOpen();
    if (!periods_.empty() && (periods_.back().kind == kind || periods_.size() == kPeriodsMax)) {
      periods_.back().end = end_;
    } else {
      periods_.push_back({end_, kind});
    }
    window_ = {sample};
  }
  end_ = end;
}

OwnPeriods RunRecorder::Periods() const {
  if (window_.empty()) return {};
  if (periods_.empty()) return {{end_, ClassOfOpen()}};
  OwnPeriods periods = periods_;
  periods.back().end = end_;
  return periods;
}

std::vector<uint32_t> SharesOf(std::span<const double> needs) {
  const std::vector<uint32_t> equal(needs.size(), 1);
  if (std::accumulate(needs.begin(), needs.end(), 0.0) <= 0) return equal;
  const auto most = static_cast<uint32_t>(kTurnsPerSetMax * needs.size());
  std::vector<uint32_t> turns = Round(Divide(needs, most), most);
  if (VarianceOf(needs, turns) > kGainMin * VarianceOf(needs, equal)) return equal;
  const uint32_t divisor = std::accumulate(turns.begin(), turns.end(), uint32_t{0}, std::gcd<uint32_t, uint32_t>);
  for (uint32_t& of_set : turns) of_set /= divisor;
  return turns;
}

TurnPolicy::TurnPolicy(const mailbox::RotationSettings& settings, bool has_instructions, RotationOrder order,
                       TurnScope scope)
    : settings_(settings),
      has_instructions_(has_instructions && !scope.is_confidential),
      order_(std::move(order)),
      scope_(std::move(scope)),
      online_(OptionsOf(settings)),
      recorder_(OptionsOf(settings)) {}

bool TurnPolicy::adapts() const { return is_fast() && settings_.adapt && !scope_.is_confidential && scope_.sets > 1; }

// --- The set --------------------------------------------------------------------------------------------------------

size_t TurnPolicy::RoundSize() const {
  return shares_.empty() ? scope_.sets : std::accumulate(shares_.begin(), shares_.end(), size_t{0});
}

size_t TurnPolicy::NextSet() {
  if (!is_fast() || scope_.sets == 1) return place_;
  if (shares_.empty()) return order_.SetAt(residency_, round_ * scope_.sets + place_);
  if (place_ == 0) round_sets_ = order_.RoundOf(residency_, round_, shares_);
  return round_sets_[place_];
}

void TurnPolicy::Adapt(std::span<const double> needs) {
  if (!adapts()) return;
  shares_ = SharesOf(needs);
  const bool is_equal = std::ranges::all_of(shares_, [](uint32_t turns) { return turns == 1; });
  if (is_equal) shares_.clear();
}

// --- The length -----------------------------------------------------------------------------------------------------

RotationClass TurnPolicy::NextClass() const {
  if (!has_instructions_) return RotationClass::kFluctuating;
  if (!scope_.learnt.empty()) return ClassAt(scope_.learnt, own_);
  return is_fast() ? online_class_ : RotationClass::kFluctuating;
}

uint64_t TurnPolicy::NextLength() const {
  if (scope_.is_first_run) return settings_.interval;
  return NextClass() == RotationClass::kStable ? settings_.stable_slot : settings_.fluctuating_slot;
}

// Looks are at slots' ends: an interval is over at the first that completes it.
void TurnPolicy::Observe(uint64_t own, const IndicatorSample& sample) {
  own_ += own;
  if (!has_instructions_) return;
  sample_.instructions += sample.instructions;
  sample_.cycles += sample.cycles;
  sample_own_ += own;
  if (sample_own_ < settings_.interval) return;
  online_.Add(sample_);
  recorder_.Add(sample_, own_);
  if (++looks_ > settings_.step) online_class_ = online_.Next();
  sample_ = {};
  sample_own_ = 0;
}

// --- Slots ----------------------------------------------------------------------------------------------------------

void TurnPolicy::BeginResidency() {
  if (is_fast()) round_ = place_ = elapsed_ = 0;
  BeginSlot();
}

void TurnPolicy::BeginSlot() {
  if (elapsed_ > 0) return;
  set_ = NextSet();
  length_ = NextLength();
}

void TurnPolicy::EndSlot(uint64_t own, const IndicatorSample& sample) {
  Observe(own, sample);
  elapsed_ += own;
  const bool goes_on = !is_fast() && elapsed_ < length_;
  if (goes_on) return;
  elapsed_ = 0;
  if (++place_ < RoundSize()) return;
  place_ = 0;
  ++round_;
}

void TurnPolicy::EndResidency() { ++residency_; }

}  // namespace sideband::mcu
