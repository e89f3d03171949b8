// SPDX-License-Identifier: Apache-2.0
//
// The content of a VM's records of suite 2: everything that the VM's owner may see, as SealedContent has it in suite 1.
//   const SecretBytes content = envelope::EncodeCounts(CountsForOwner(topology, raw, vm, host_time));
#ifndef SIDEBAND_DAEMON_SEALING_VM_COUNTS_H_
#define SIDEBAND_DAEMON_SEALING_VM_COUNTS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "daemon/snapshot/topology.h"
#include "proto/envelope/counts.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The rows and events of exchange::VmCounts, with coverage where events have gates or take turns, and with estimates of
// those that take turns.
envelope::SealedCounts CountsForOwner(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm,
                                      absl::Time host_time);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_VM_COUNTS_H_
