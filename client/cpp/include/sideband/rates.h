// SPDX-License-Identifier: Apache-2.0
//
// The counts between two snapshots of a device, of any distance in time.
//   for (const sideband::ScopeIncreases& row : sideband::IncreasesBetween(earlier, later)) {
//     for (const sideband::Increase& one : row.increases) std::cout << one.event << " " << one.per_second << "\n";
//   }
// Counter::rate_per_second is the daemon's own rate, over its last interval; these are over the caller's.
#ifndef SIDEBAND_RATES_H_
#define SIDEBAND_RATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sideband/export.h"
#include "sideband/snapshot.h"

namespace sideband {

struct Increase {
  std::string event;
  uint64_t count = 0;
  // By the device's reference clock.
  double per_second = 0;
  // Whether it is all that happened: false for estimates, and for events that were not counted in every cycle.
  bool exact = true;

  bool operator==(const Increase&) const = default;
};

struct ScopeIncreases {
  Scope scope;
  std::vector<Increase> increases;

  bool operator==(const ScopeIncreases&) const = default;
};

// In the order of `later`. A scope is absent if its counters began anew in between (another boot of the device, another
// generation), or if one snapshot does not have it: what it counted then is not a difference of two counts. So is an
// event of which only one has a count, and an estimate that has become smaller. Empty also if the snapshots are of two
// devices, or `later` is not later.
SIDEBAND_EXPORT std::vector<ScopeIncreases> IncreasesBetween(const Snapshot& earlier, const Snapshot& later) noexcept;

}  // namespace sideband

#endif  // SIDEBAND_RATES_H_
