// SPDX-License-Identifier: Apache-2.0
//
// Rates between two snapshots of a device.
#ifndef SIDEBAND_DAEMON_COLLECTOR_RATES_H_
#define SIDEBAND_DAEMON_COLLECTOR_RATES_H_

#include <vector>

#include "absl/time/time.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The reference time between two snapshots; zero if `before` is nullptr or of another boot or catalogue, and if no
// reference time has passed, or more than 2^63 ns.
absl::Duration Elapsed(const mailbox::Snapshot* before, const mailbox::Snapshot& now);

// Returns events per second of reference time, parallel to now.counters. A rate is NaN if Elapsed() is zero, if
// `before` has no block of the same scope and generation, or if the counter has decreased.
std::vector<double> Rates(const mailbox::Snapshot* before, const mailbox::Snapshot& now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_RATES_H_
