// SPDX-License-Identifier: Apache-2.0
//
// Whether a snapshot adds up: the law of additivity (pipeline.md, "Laws"), as far as a reader of blocks can check it.
//   metrics.Conservation(device, CheckConservation(topology, taken.raw));
#ifndef SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_
#define SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_

#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// `raw` must have passed CheckAgainst (daemon/mailbox). True where for every event that is counted per context no VM
// has less than its contexts together and the device has no less than its VMs together. (It may have more: of contexts
// that are gone, and of time without one.) A row that carries a flag is excused: it says itself that it may not be
// exact. Only this one bit may leave: it is computed over confidential VMs, too.
bool CheckConservation(const Topology& topology, const mailbox::Snapshot& raw);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CONSERVATION_H_
