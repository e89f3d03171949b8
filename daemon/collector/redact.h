// SPDX-License-Identifier: Apache-2.0
//
// What of a device's snapshot may be published in plaintext. (security.md, "Sealed records" and "Arithmetic on what is
// public".)
//
// Blocks of confidential VMs are left out. So that nobody gets theirs by subtraction, the device's own block is then
// not the device's but the sum of the VMs that are shown, and its device-scope events, which cannot be told apart, are
// withheld.
#ifndef SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
#define SIDEBAND_DAEMON_COLLECTOR_REDACT_H_

#include "absl/status/status.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Whether the snapshot is one of this topology: its hash, its number of counters, and blocks of known scopes only, the
// device's first. INVALID_ARGUMENT says what does not fit.
absl::Status CheckAgainst(const Topology& topology, const mailbox::Snapshot& snapshot);

// `raw` must have passed CheckAgainst. Its counters are wiped.
mailbox::Snapshot Redact(const Topology& topology, mailbox::Snapshot&& raw);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
