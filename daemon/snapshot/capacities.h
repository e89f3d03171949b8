// SPDX-License-Identifier: Apache-2.0
//
// What the events of a device count at most, from the catalogue's event details.
//   const Capacities capacities(catalog);
//   const double busy = count / (capacities.OfSlice(event, capacities.PlaceOf(vm.slice)) * reference_cycles);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_CAPACITIES_H_
#define SIDEBAND_DAEMON_SNAPSHOT_CAPACITIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

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
  // Of all slices together; 0 where one of them is unknown.
  double OfDevice(size_t event) const { return events_[event].device; }
  // Of each slice; 0 where they differ.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_CAPACITIES_H_
