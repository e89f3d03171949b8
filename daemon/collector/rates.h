// SPDX-License-Identifier: Apache-2.0
//
// Rates between two snapshots of a device.
#ifndef SIDEBAND_DAEMON_COLLECTOR_RATES_H_
#define SIDEBAND_DAEMON_COLLECTOR_RATES_H_

#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Events per second of reference time, parallel to now.counters; NaN where `before` (nullptr: nothing) has no such
// block of the same boot and generation, where no time has passed, or where a counter went back.
std::vector<double> Rates(const mailbox::Snapshot* before, const mailbox::Snapshot& now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_RATES_H_
