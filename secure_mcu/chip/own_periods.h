// SPDX-License-Identifier: Apache-2.0
//
// The classes of a run by the context's own time: recorded while it runs, and looked up by later runs
// (counter-rotation.md, "Published method", and "Rotation in the chip", 7).
//   RunRecorder recorder({.step = 4});
//   recorder.Add({.instructions = 300, .cycles = 500}, /*end=*/500);      // own time at the interval's end
//   const OwnPeriods periods = recorder.Periods();
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

// ClassifyRun of a run while it runs: of its samples it keeps those of one window. Not thread-safe.
class RunRecorder {
 public:
  // The most that are kept; the time after them has the class of the last one.
  static constexpr size_t kPeriodsMax = 1024;

  explicit RunRecorder(const ClassifierOptions& options);

  // `end`, the own time at the interval's end, ascends.
  void Add(const IndicatorSample& sample, uint64_t end);
  // None of a run without samples.
  OwnPeriods Periods() const;

 private:
  RotationClass ClassOfOpen() const { return ClassOfWindow(window_, threshold_per_mille_); }

  const uint32_t threshold_per_mille_;
  const size_t step_;
  std::vector<IndicatorSample> window_;  // the open one
  uint64_t end_ = 0;                     // of the last sample
  OwnPeriods periods_;                   // of whole windows
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_OWN_PERIODS_H_
