// SPDX-License-Identifier: Apache-2.0
//
// Rates between two snapshots of a device.
#ifndef SIDEBAND_DAEMON_COLLECTOR_RATES_H_
#define SIDEBAND_DAEMON_COLLECTOR_RATES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

// The reference time between two snapshots; zero if `before` is nullptr, of another boot or of other events, and if no
// reference time has passed, or more than 2^63 ns. What else changes in a catalogue, as the plans of a VM's turns do,
// is not seen in others' rates.
absl::Duration Elapsed(const DeviceSnapshot* before, const DeviceSnapshot& now);

inline constexpr double kUnknownRate = std::numeric_limits<double>::quiet_NaN();

// Events per second between two counts; unknown if the count has decreased.
double RateOf(uint64_t before, uint64_t now, double seconds);

// Returns events per second of reference time, parallel to now.data.counters. A rate is NaN if Elapsed() is zero, if
// `before` has no block of the same scope and generation, or if the counter has decreased.
std::vector<double> Rates(const DeviceSnapshot* before, const DeviceSnapshot& now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_RATES_H_
