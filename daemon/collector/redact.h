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

#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// `raw` must have passed CheckAgainst (daemon/mailbox). Where something has to be `withheld` (withholding.h; always
// with a confidential VM in the topology), its counters are wiped; else it is published as it is.
mailbox::Snapshot Redact(const Topology& topology, mailbox::Snapshot&& raw, bool withheld);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
