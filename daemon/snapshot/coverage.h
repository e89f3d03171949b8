// SPDX-License-Identifier: Apache-2.0
//
// Bounds of an event's counts by the catalogue: the most that they can be in a cycle, and for what share of its time an
// event of a gate group was counted (docs/design/virtual-counters.md, "Coverage").
//   const Capacities capacities(catalog);
//   const double busy = count / (capacities.OfSlice(event, capacities.PlaceOf(vm.slice)) * reference_cycles);
//   const Coverage coverage(catalog);
//   if (coverage.IsGated(event)) Show(coverage.OfCount(event, snapshot.Counters(row)));   // 0 to 1
#ifndef SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_
#define SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/catalog.h"

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_COVERAGE_H_
