// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_periods.h"

#include <algorithm>

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

}  // namespace sideband::mcu
