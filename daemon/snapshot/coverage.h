// SPDX-License-Identifier: Apache-2.0
//
// How complete counts are, by the catalogue: the most that an event can count in a cycle (Capacities), the share of its
// time in which an event of a gate group was counted (Coverage), and the estimates of multiplexed events (Rotation).
//   const Capacities capacities(catalog);
//   const double busy = count / (capacities.OfSlice(event, capacities.PlaceOf(vm.slice)) * reference_cycles);
//   const Coverage coverage(catalog);
//   if (coverage.IsGated(event)) Show(coverage.OfCount(event, snapshot.Counters(row)));   // 0 to 1
//   const Rotation rotation(catalog);
//   if (const auto estimate = rotation.Of(snapshot, row, event)) Show(estimate->value, estimate->lower);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_
#define SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The most that the events of a device count, from the catalogue's event details.
//
// Immutable, therefore thread-safe. All capacities are per cycle of the reference clock; 0 means unknown. Events and
// places are positions in the catalogue's lists of events and slices.
class Capacities {
 public:
  static constexpr size_t kNowhere = SIZE_MAX;

  explicit Capacities(const mailbox::Catalog& catalog);

  // kNowhere for an unknown id.
  size_t PlaceOf(uint8_t slice) const;

  // Whether the event has a capacity on any slice. A masked event has none.
  bool IsKnown(size_t event) const { return events_[event].is_known; }
  double OfSlice(size_t event, size_t place) const;
  // The capacity of all slices together; 0 where one of them is unknown.
  double OfDevice(size_t event) const { return events_[event].device; }
  // The capacity of each slice; 0 where they differ.
  double OfEachSlice(size_t event) const { return events_[event].each_slice; }
  // The event that counts the cycles in which a context is resident; nullopt where the device does not count it.
  std::optional<size_t> resident_cycles() const { return resident_cycles_; }

 private:
  struct Event {
    std::vector<double> slices;
    bool is_known = false;
    double device = 0;
    double each_slice = 0;
  };

  static Event Read(const mailbox::EventInfo& info, size_t slices);

  std::vector<Event> events_;
  std::vector<uint8_t> slice_ids_;
  std::optional<size_t> resident_cycles_;
};

// The events that count the cycles in which a gated event was counted, and those in which it could have been.
struct GateCycles {
  size_t running = 0;
  size_t resident = 0;
  bool operator==(const GateCycles&) const = default;
};

// For what share of its time an event of a gate group was counted (docs/design/virtual-counters.md, "Coverage").
//
// Immutable, therefore thread-safe. Events are positions in the catalogue's list. Counters and rates are those of one
// row, by event. Without a gate the coverage is 1; it is 0 where there is no number, and NaN where it is unknown, since
// the device does not count the cycles, or contradicts itself.
class Coverage {
 public:
  explicit Coverage(const mailbox::Catalog& catalog);

  bool has_gates() const { return !gates_.empty(); }
  // Whether a gate decides when the event is counted. Running cycles are complete by themselves: they have none.
  bool IsGated(size_t event) const { return event < gates_.size() && gates_[event].is_gated; }
  // nullopt for an event without a gate, and where the device does not count the cycles.
  std::optional<GateCycles> CyclesOf(size_t event) const;

  // Since the counters' beginning. 0: the event has not been counted in any cycle yet.
  double OfCount(size_t event, std::span<const uint64_t> counters) const;
  // The coverage in the rates' interval. 0: the event was counted in none of the resident cycles. NaN also where there
  // were none.
  double OfRate(size_t event, std::span<const double> rates) const;
  // Whether every event was counted in every resident cycle since the counters' beginning.
  bool IsWhole(std::span<const uint64_t> counters) const;

  // The coverage of a count, from the two counts of cycles.
  static double OfCycles(uint64_t running, uint64_t resident);

 private:
  struct Gate {
    bool is_gated = false;
    std::optional<size_t> running;
  };

  std::vector<Gate> gates_;  // by event; empty if the device has no groups
  std::optional<size_t> resident_;
};

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

// The shown values of multiplexed events: estimates, with their errors (counter-rotation.md, "Numbers").
//
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

#endif  // SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_
