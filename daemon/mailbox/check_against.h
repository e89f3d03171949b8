// SPDX-License-Identifier: Apache-2.0
//
// Whether a decoded snapshot is what its catalogue says.
#ifndef SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_
#define SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_

#include "absl/status/status.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Whether the snapshot is one of this topology: its hash, its number of counters, and a block of each of its scopes and
// no others, the device's first. INVALID_ARGUMENT says what does not fit.
absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MAILBOX_CHECK_AGAINST_H_
