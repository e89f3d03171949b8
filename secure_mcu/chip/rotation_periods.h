// SPDX-License-Identifier: Apache-2.0
//
// In which periods of a run an indicator (instructions per cycle) is stable: what the `two-set` profile of counter
// rotation takes its slots' lengths from (counter-rotation.md, "Published method").
//   const std::vector<RotationPeriod> periods = ClassifyRun(run, {});   // one sample per interval of 0.5 s
//   const bool is_stable = ClassOf(periods, 12) == RotationClass::kStable;   // in the 13th interval
//   OnlineRotationClass online({});                                          // without an earlier run
//   online.Add(run[0]);
//   const bool is_short = online.Next() == RotationClass::kFluctuating;      // the next slot
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_PERIODS_H_
