// SPDX-License-Identifier: Apache-2.0
//
// Checks that a decoded snapshot matches its catalogue.
#ifndef SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_
#define SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_

#include "absl/status/status.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// INVALID_ARGUMENT with the reason unless the snapshot belongs to this topology: equal hash, equal number of counters,
// no clocks or one of each domain, and exactly one block for each scope of the topology, the device's block first.
absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_
