// SPDX-License-Identifier: Apache-2.0
//
// How much of what it can count at most an event has counted over the last interval (docs/utilisation.md).
//   const RowUtilisation row(snapshot, index);
//   if (const auto share = row.Of(event)) Show(share->value);   // 0 to 1
#ifndef SIDEBAND_DAEMON_SNAPSHOT_UTILISATION_H_
#define SIDEBAND_DAEMON_SNAPSHOT_UTILISATION_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/ratio.h"

namespace sideband::daemon {

struct Utilisation {
  double counted_per_second = 0;
  double capacity_per_second = 0;  // what would have been counted at most; above 0
  double value = 0;                // the quotient, from 0 to 1
};

// The names of the utilisations, by event: the event's without "_cycles". Empty for an event without capacity, and
// where one of `ratios` or an earlier event's utilisation has the name, or the daemon itself (kCoverageRatio).
std::vector<std::string> UtilisationNames(const Topology& topology, const std::vector<Ratio>& ratios);

// The utilisations of one row of a snapshot, which must outlive it.
//  * Of the device and of a VM: of the capacity of the device or of the VM's slice, in all cycles of the interval.
//  * Of a context: of its slice's capacity, in the cycles in which the context was resident; of those cycles
//    themselves: in all cycles of the interval.
//  * Of an event in a gate group, at each level: of a slice's capacity, in the cycles in which the event was counted.
class RowUtilisation {
 public:
  RowUtilisation(const DeviceSnapshot& snapshot, size_t row);

  // nullopt where the capacity, a rate or the clock is unknown, for a context that was not resident, for an event that
  // was not counted, for a device's row that leaves out confidential VMs, for an estimate that by its upper bound may
  // be above the capacity, and where IsContradiction(). `event` is an index of the catalogue.
  std::optional<Utilisation> Of(size_t event) const;
  // Whether the device has counted more than it can.
  bool IsContradiction(size_t event) const;
  // Whether all events behind Of() are in `events` (a set by index, such as a View's).
  bool IsIn(size_t event, const std::vector<bool>& events) const;

 private:
  // Whether the capacity is that of some of the interval's cycles, which the event CyclesOf() counts.
  bool IsOverSomeCycles(size_t event) const;
  std::optional<size_t> CyclesOf(size_t event) const;
  double CyclesPerSecond(size_t event) const;
  double CapacityPerSecond(size_t event) const;

  const Capacities& capacities_;
  const Coverage& coverage_;
  const Level level_;
  const double hertz_;
  size_t place_ = Capacities::kNowhere;
  bool is_bound_ = false;  // to one slice
  std::span<const double> rates_;
  std::span<const RateBounds> bounds_;
  double slack_ = 1;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_UTILISATION_H_
