// SPDX-License-Identifier: Apache-2.0
//
// The count of an event as if it had been counted in every slot, from the slots in which it was: the estimate of each
// epoch by the ratio of enabled to running cycles, their sum, and its variance (counter-rotation.md, "Numbers").
//   EventEstimate estimate;
//   estimate.AddSlot(/*count=*/120, /*running=*/1000);
//   const SlotTimes epoch{.enabled = 4000, .running = 1000, .slots = 1, .squares = 1e6};
//   estimate.Evaluate(epoch, {});
//   estimate.highest();                          // 480
//   estimate.Close(epoch, {});                   // a new epoch; what was before is not revalued
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_EVENT_ESTIMATE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_EVENT_ESTIMATE_H_

#include <cstdint>

#include "absl/numeric/int128.h"

namespace sideband::mcu {

// The times of an event's slots within an epoch, in cycles.
struct SlotTimes {
  uint64_t enabled = 0;  // of all slots
  uint64_t running = 0;  // of those in which the event was counted
  uint64_t slots = 0;    // of these, with a running cycle
  double squares = 0;    // of their running cycles, added
};

// Cycles in all closed epochs.
struct ClosedTimes {
  uint64_t running = 0;
};

// The factor by which the 97.5 % quantile of Student's distribution exceeds the normal distribution's, 1 for more than
// 30 degrees of freedom. (Standard table, such as NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.)
double StudentFactor(uint64_t degrees_of_freedom);

// Since its plan began. Not thread-safe.
class EventEstimate {
 public:
  void AddSlot(uint64_t count, uint64_t running);
  // Renews highest() by the open epoch, which may be one that has none of the event's slots yet: then by the closed
  // ones' ratio.
  void Evaluate(const SlotTimes& open, const ClosedTimes& closed);
  // Ends the epoch; `closed` is without it.
  void Close(const SlotTimes& epoch, const ClosedTimes& closed);

  uint64_t counted() const { return counted_ + epoch_count_; }
  // The highest estimate so far, rounded down.
  uint64_t highest() const { return highest_; }
  // The sum of the epochs' estimates in 2^-16, not rounded up at any evaluation: what highest() follows.
  absl::uint128 Sum(const SlotTimes& open, const ClosedTimes& closed) const { return closed_ + OfEpoch(open, closed); }
  // The estimate's variance, widened by the square of StudentFactor; negative if no epoch has two slots.
  double Variance(const SlotTimes& open) const;
  // How much a slot's count differs from what its length makes expect: the square of the residuals' standard deviation
  // over the mean count, of the open epoch. Unlike the variance it does not depend on how many slots the event has. 0
  // without a count, or with less than two slots.
  double SlotSpread(const SlotTimes& open) const;

 private:
  absl::uint128 OfEpoch(const SlotTimes& epoch, const ClosedTimes& closed) const;
  double SlotVariance(const SlotTimes& epoch) const;
  double VarianceOfEpoch(const SlotTimes& epoch) const;

  uint64_t counted_ = 0;      // in closed epochs
  uint64_t epoch_count_ = 0;  // in the open one
  absl::uint128 closed_ = 0;  // the closed epochs' estimates, in 2^-16
  uint64_t highest_ = 0;
  double count_squares_ = 0;     // of the open epoch's slots
  double products_ = 0;          // of their counts and running cycles
  double closed_variance_ = -1;  // negative: unknown
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_EVENT_ESTIMATE_H_
