// SPDX-License-Identifier: Apache-2.0
//
// Checks the law of additivity (pipeline.md, "Laws") on a snapshot, as far as blocks allow.
//   metrics.Conservation(device, CheckConservation(topology, taken.raw));
#ifndef SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_
#define SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_

#include "daemon/snapshot/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Returns true if, for every event counted per context, no VM has a smaller count than the sum of its contexts, and the
// device has no smaller count than the sum of its hosts and of its VMs that are not private. (Greater counts are valid:
// they include contexts that have ended and time without a context.) The same holds for estimates. Rows with any other
// flag than those of estimates are exempt, since it marks their counts as possibly inexact. `raw` must have passed
// CheckAgainst (daemon/mailbox). It includes confidential VMs, so only this one bit may be published.
bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_
