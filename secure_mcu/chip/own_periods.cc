// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/own_periods.h"

#include <algorithm>

namespace sideband::mcu {

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
