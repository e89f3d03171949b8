// SPDX-License-Identifier: Apache-2.0
//
// Rates between two snapshots of a device.
#ifndef SIDEBAND_DAEMON_COLLECTOR_RATES_H_
#define SIDEBAND_DAEMON_COLLECTOR_RATES_H_

#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Returns events per second of reference time, parallel to now.counters. A rate is NaN if `before` is nullptr or of
// another boot or catalogue, if it has no block of the same scope and generation, if no reference time has passed, or
// if the counter has decreased.
std::vector<double> Rates(const mailbox::Snapshot* before, const mailbox::Snapshot& now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_RATES_H_
