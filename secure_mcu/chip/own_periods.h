// SPDX-License-Identifier: Apache-2.0
//
// The classes of a run by the context's own time: recorded while it runs, and looked up by later runs (event-groups.md,
// "Mechanism", and "Rotation in the chip", 7).
//   RunRecorder recorder;
//   recorder.Add({.instructions = 300, .cycles = 500}, /*end=*/500);      // own time at the interval's end
//   const OwnPeriods periods = recorder.Classify({});
//   const bool is_short = ClassAt(periods, 1200) == RotationClass::kFluctuating;
#ifndef SIDEBAND_SECURE_MCU_CHIP_OWN_PERIODS_H_
#define SIDEBAND_SECURE_MCU_CHIP_OWN_PERIODS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "secure_mcu/chip/rotation_periods.h"

namespace sideband::mcu {

// From the end of the one before, or from 0.
struct OwnPeriod {
  uint64_t end = 0;  // in own cycles since the run's begin
  RotationClass kind = RotationClass::kStable;
  bool operator==(const OwnPeriod&) const = default;
};
using OwnPeriods = std::vector<OwnPeriod>;  // ascending

// The class of a time; behind the last period that period's. `periods` are not empty.
RotationClass ClassAt(const OwnPeriods& periods, uint64_t own);

// Not thread-safe.
class RunRecorder {
 public:
  // More than two hours of half seconds; what follows has the class of the last window.
  static constexpr size_t kSamplesMax = 16'384;

  // `end` ascends.
  void Add(const IndicatorSample& sample, uint64_t end);
  // None of a run without samples.
  OwnPeriods Classify(const ClassifierOptions& options) const;

 private:
  std::vector<IndicatorSample> samples_;
  std::vector<uint64_t> ends_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_OWN_PERIODS_H_
