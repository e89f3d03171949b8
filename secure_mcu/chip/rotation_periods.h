// SPDX-License-Identifier: Apache-2.0
//
// In which periods of a run an indicator (instructions per cycle) is stable: what the `two-set` profile of counter
// rotation takes its slots' lengths from (counter-rotation.md, "Published method").
//   const std::vector<RotationPeriod> periods = ClassifyRun(run, {});   // one sample per interval of 0.5 s
//   const bool is_stable = ClassOf(periods, 12) == RotationClass::kStable;   // in the 13th interval
//   OnlineRotationClass online({});                                          // without an earlier run
//   online.Add(run[0]);
//   const bool is_short = online.Next() == RotationClass::kFluctuating;      // the next slot
//
//   RunRecorder recorder({.step = 4});
//   recorder.Add({.instructions = 300, .cycles = 500}, /*end=*/500);      // own time at the interval's end
//   const OwnPeriods learnt = recorder.Periods();
//   const bool begins_short = ClassAt(learnt, 1200) == RotationClass::kFluctuating;
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_PERIODS_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_PERIODS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sideband::mcu {

enum class RotationClass : uint8_t { kStable, kFluctuating };

// The counts of an interval. Without cycles, or without instructions, the indicator is 0.
struct IndicatorSample {
  uint64_t instructions = 0;
  uint64_t cycles = 0;
};

struct ClassifierOptions {
  uint32_t threshold_per_mille = 50;  // of the mean: a window whose values differ by more is fluctuating
  size_t step = 4;                    // in intervals; 0 counts as 1
};

// The intervals [begin, end).
struct RotationPeriod {
  size_t begin = 0;
  size_t end = 0;
  RotationClass kind = RotationClass::kStable;
  bool operator==(const RotationPeriod&) const = default;
};

// The class of values that are looked at together: fluctuating if (max - min) / mean exceeds the threshold. Computed
// with whole numbers, an indicator with 20 fraction bits, rounded down. Stable if all are 0, or if there is none.
RotationClass ClassOfWindow(std::span<const IndicatorSample> window, uint32_t threshold_per_mille);

// The classes of a whole run: periods that touch, alternate and cover it; none for an empty run. Windows are
// [cur, cur + step], both ends included: neighbours share a value. Values behind the last whole window have its class;
// a run without a whole window is one window.
std::vector<RotationPeriod> ClassifyRun(std::span<const IndicatorSample> run, const ClassifierOptions& options);

// The class of an interval. Behind the last period: that period's; stable without periods.
RotationClass ClassOf(std::span<const RotationPeriod> periods, size_t interval);

// The class of a slot is that of the window before it. Not thread-safe.
class OnlineRotationClass {
 public:
  explicit OnlineRotationClass(const ClassifierOptions& options);

  // After each interval.
  void Add(const IndicatorSample& sample);
  // The class of the last step + 1 intervals; of fewer at the beginning; stable before the first.
  RotationClass Next() const { return ClassOfWindow(window_, threshold_per_mille_); }

 private:
  uint32_t threshold_per_mille_;
  size_t size_;
  std::vector<IndicatorSample> window_;  // as a ring: the order does not matter
  size_t oldest_ = 0;
};

// A period from the end of the one before, or from 0.
struct OwnPeriod {
  uint64_t end = 0;  // in own cycles since the run's begin
  RotationClass kind = RotationClass::kStable;
  bool operator==(const OwnPeriod&) const = default;
};
using OwnPeriods = std::vector<OwnPeriod>;  // ascending

// The class of a time; behind the last period that period's. `periods` are not empty.
RotationClass ClassAt(const OwnPeriods& periods, uint64_t own);

// The classes of a run by the context's own time: recorded while it runs, and looked up by later runs
// (counter-rotation.md, "Published method", and "Rotation in the chip", 7).
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

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_PERIODS_H_
