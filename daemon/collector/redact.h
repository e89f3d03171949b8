// SPDX-License-Identifier: Apache-2.0
//
// What of a device's snapshot may be published in plaintext. (security.md, "Sealed records" and "Arithmetic on what is
// public"; docs/decisions/0003.)
//   Redacted redacted = Redact(topology, std::move(raw), before.get(), seconds);
#ifndef SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
#define SIDEBAND_DAEMON_COLLECTOR_REDACT_H_

#include <cstdint>

#include "daemon/model/device_snapshot.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

struct Redacted {
  mailbox::Snapshot shown;
  // Device-scope events, which cannot be told apart, must not be shown, and the device's row is without confidential
  // VMs: kFlagConfidentialExcluded is raised on it.
  bool device_scope_withheld = false;
  // The device's row counts from zero since this snapshot.
  bool device_row_is_new = false;
};

// `raw` must have passed CheckAgainst (daemon/mailbox). Where there is no confidential VM, and has been none since the
// device booted, it is shown as it is. Else blocks of confidential VMs are left out and wiped, and the device's own row
// goes on from where it was in `before`, what was published last (nullptr: nothing, since the daemon's start), by what
// the VMs that are shown have counted since: it never falls, and no difference of two is a confidential count.
// A row that counts from zero has `new_generation`, another than what an earlier daemon began it with. Nothing else in
// its header is the device's either.
Redacted Redact(const Topology& topology, mailbox::Snapshot&& raw, const DeviceSnapshot* before,
                uint32_t new_generation);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_REDACT_H_
