// SPDX-License-Identifier: Apache-2.0
//
// The shown values of multiplexed events: estimates, with their errors (counter-rotation.md, "Numbers").
//   const Rotation rotation(catalog);
//   if (const auto estimate = rotation.Of(snapshot, row, event)) Show(estimate->value, estimate->lower);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_ROTATION_H_
#define SIDEBAND_DAEMON_SNAPSHOT_ROTATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The ground of an estimate's standard error.
enum class EstimateMethod : uint8_t {
  kRandomTurns = 0,  // the device's own random order of turns: it holds whatever the workload does
  kModel = 1,        // turns without randomness: it holds for a workload without a rhythm of its own
};

// lower <= truth <= upper, and lower <= value <= upper, unless the row has kFlagRotationInconsistent.
struct Estimate {
  uint64_t value = 0;      // what is shown
  uint64_t lower = 0;      // what was counted
  uint64_t upper = 0;      // mailbox::kUnknownNumber: unbounded
  uint64_t deviation = 0;  // the standard error; mailbox::kUnknownNumber: too few turns
  mailbox::RotationTime time;
  EstimateMethod method = EstimateMethod::kRandomTurns;
};

// Immutable, therefore thread-safe. Events are positions in the catalogue's list; rows are blocks of a snapshot of it.
// A snapshot without the numbers of rotation (`Snapshot::rotation`) has exact counts.
class Rotation {
 public:
  explicit Rotation(const mailbox::Catalog& catalog);

  // Whether the event is multiplexed, or is derived from events that are.
  bool IsRotated(size_t event) const { return event < turns_.size() && turns_[event].is_rotated; }
  bool has_rotated_events() const { return rotated_ > 0; }
  // The number of such events.
  size_t events() const { return rotated_; }

  // Whether the catalogue has the plan of that number.
  bool IsKnown(uint16_t plan) const;
  // The row's own cycles under all plans together, and in the device's row the device's for its events: those in which
  // the event could have been counted, and those in which it was. Cycles under plans that the catalogue no longer has
  // are of the former only.
  mailbox::RotationTime TimeOf(const mailbox::BlockRotation& numbers, size_t event) const;
  // Whether the event was counted in each of those cycles, or is not multiplexed.
  bool IsWhole(const mailbox::Snapshot& data, size_t row, size_t event) const;
  // The share of those cycles: 1 for events that are not multiplexed; 0 where there is no number; NaN where the device
  // contradicts itself.
  double CoverageOf(const mailbox::Snapshot& data, size_t row, size_t event) const;
  // nullopt: the count is exact, or there is no number.
  std::optional<Estimate> Of(const mailbox::Snapshot& data, size_t row, size_t event) const;
  // The shown value: the estimate, or else the count.
  uint64_t Shown(const mailbox::Snapshot& data, size_t row, size_t event) const;
  // The same of all rows, parallel to data.counters. Empty if all counts of `data` are exact.
  mailbox::CounterValues ShownCounters(const mailbox::Snapshot& data) const;

  // nullptr: there are none. `numbers` must outlive the result.
  const mailbox::EventEstimate* Find(const mailbox::BlockRotation& numbers, size_t event) const;
  // The event's position among the multiplexed ones, which is its position in BlockRotation::events.
  size_t PlaceOf(size_t event) const { return turns_[event].place; }

 private:
  struct Event {
    bool is_rotated = false;
    size_t place = 0;
    std::optional<size_t> gate_group;
  };

  // nullptr: the event is not multiplexed, or the snapshot's counts are exact.
  const mailbox::BlockRotation* NumbersOf(const mailbox::Snapshot& data, size_t row, size_t event) const;
  // With what forgotten plans are known to have counted, of an event that no others had.
  mailbox::RotationTime ShownTime(const mailbox::BlockRotation& numbers, size_t event) const;
  EstimateMethod MethodOf(const mailbox::BlockRotation& numbers, size_t event) const;

  std::vector<Event> turns_;
  std::vector<mailbox::RotationPlan> plans_;
  size_t rotated_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_ROTATION_H_
