// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/own_periods.h"

#include <algorithm>

namespace sideband::mcu {

RotationClass ClassAt(const OwnPeriods& periods, uint64_t own) {
  const auto found = std::ranges::upper_bound(periods, own, {}, &OwnPeriod::end);
  return found == periods.end() ? periods.back().kind : found->kind;
}

void RunRecorder::Add(const IndicatorSample& sample, uint64_t end) {
  if (samples_.size() == kSamplesMax) return;
  samples_.push_back(sample);
  ends_.push_back(end);
}

OwnPeriods RunRecorder::Classify(const ClassifierOptions& options) const {
  OwnPeriods periods;
  for (const RotationPeriod& period : ClassifyRun(samples_, options)) {
    periods.push_back({ends_[period.end - 1], period.kind});
  }
  return periods;
}

}  // namespace sideband::mcu
