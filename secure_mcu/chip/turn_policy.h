// SPDX-License-Identifier: Apache-2.0
//
// The turns in one life of a context on a slice: whose it is, and how long (counter-rotation.md, "Published method",
// "Rotation in the chip", 4 and 7, and "Adaptive turns"). Also here: the periods of a run in which an indicator,
// instructions per cycle, is stable: slots have their lengths from these.
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
//
//   TurnPolicy policy(settings, /*has_instructions=*/true, order, {.sets = 4});
//   policy.BeginResidency();
//   Count(policy.set(), policy.slot_cycles());
//   policy.EndSlot(policy.slot_cycles(), {.instructions = 40, .cycles = 100});
//   if (closes) policy.Adapt(needs);
//   policy.BeginSlot();
//   policy.EndResidency();
//
// Profile `fast`: each residency begins a slot. Sets follow each other by the order's Latin square; once Adapt has
// given them unequal shares, by permutations of rounds with these. Profile `two-set`: the sets alternate, without
// randomness, in own time since the life's begin: a turn that a residency's end cuts goes on in the next.
//
// A slot is long in stable and short in fluctuating periods: those that were learnt; if there are none, `fast` takes
// the class of the window before it (online), of whole windows only, and until there is one it is short. Without
// instructions, without periods of `two-set`, and in a confidential VM, whose cadence must tell nothing, all slots are
// short.
#ifndef SIDEBAND_SECURE_MCU_CHIP_TURN_POLICY_H_
#define SIDEBAND_SECURE_MCU_CHIP_TURN_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/pipeline/rotation_order.h"

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

// How many turns each set gets in a round, by how uncertain its events are (counter-rotation.md, "Adaptive turns").
// The variance of a sum of relative errors, Σ need²/turns, is least where turns are proportional to needs (Neyman).
// At most this many turns per set and round, on average.
inline constexpr size_t kTurnsPerSetMax = 3;
// Unequal turns must promise a variance below this part of that with equal ones: they give up the Latin square, and
// needs are estimates.
inline constexpr double kGainMin = 0.9;

// Turns of each set in a round: at least 1, together at most kTurnsPerSetMax times the sets, without a common divisor.
// All 1 if no set needs any, or if unequal ones promise too little. `needs` are finite, and not negative.
std::vector<uint32_t> SharesOf(std::span<const double> needs);

// A life counts the sets [first, first + sets) of the plan's.
struct TurnScope {
  size_t first = 0;
  size_t sets = 1;
  // The reference text's: one set, looked at in every interval, whose end is a slot's.
  bool is_first_run = false;
  bool is_confidential = false;
  OwnPeriods learnt;  // none: not learnt
};

// Deterministic; not thread-safe.
class TurnPolicy {
 public:
  // `order` has as many sets as the scope.
  TurnPolicy(const mailbox::RotationSettings& settings, bool has_instructions, RotationOrder order, TurnScope scope);

  // Only within a residency: the set in turn, and the own cycles from the slot's begin to its end.
  size_t set() const { return scope_.first + set_; }
  uint64_t slot_cycles() const { return length_ - elapsed_; }

  bool Includes(size_t set) const { return set >= scope_.first && set - scope_.first < scope_.sets; }
  size_t sets() const { return scope_.sets; }
  bool adapts() const;
  uint64_t residency() const { return residency_; }

  void BeginResidency();
  // After `own` cycles of the slot, at most slot_cycles(), with what they counted where its set was in turn.
  void EndSlot(uint64_t own, const IndicatorSample& sample);
  // Whether the slot that ended last was the last of a round.
  bool is_round_over() const { return place_ == 0 && elapsed_ == 0; }
  // Between the slots of two rounds, or of two residencies: the shares of the rounds that follow, by SharesOf. Without
  // effect unless adapts().
  void Adapt(std::span<const double> needs);
  void BeginSlot();
  void EndResidency();

  // The periods that this life has shown.
  OwnPeriods Learn() const { return recorder_.Periods(); }

 private:
  bool is_fast() const { return settings_.profile == mailbox::RotationProfile::kFast; }
  size_t RoundSize() const;
  size_t NextSet();
  RotationClass NextClass() const;
  uint64_t NextLength() const;
  void Observe(uint64_t own, const IndicatorSample& sample);

  const mailbox::RotationSettings settings_;
  const bool has_instructions_;  // and they may be looked at
  RotationOrder order_;
  const TurnScope scope_;

  uint64_t residency_ = 0, round_ = 0;  // the round is of the residency, or of the life in `two-set`
  size_t place_ = 0;                    // of the slot in its round
  size_t set_ = 0;
  uint64_t length_ = 0, elapsed_ = 0;  // of the turn
  uint64_t own_ = 0;                   // since the life's begin

  std::vector<uint32_t> shares_;  // none: equal
  std::vector<uint8_t> round_sets_;

  IndicatorSample sample_;   // of the open interval
  uint64_t sample_own_ = 0;  // its own cycles
  uint64_t looks_ = 0;       // intervals so far
  OnlineRotationClass online_;
  RotationClass online_class_ = RotationClass::kFluctuating;
  RunRecorder recorder_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_TURN_POLICY_H_
