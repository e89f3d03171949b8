// SPDX-License-Identifier: Apache-2.0
//
// Whether a device's own row has to do without what its confidential VMs have counted.
//   const bool withheld = withholding.Applies(topology, raw);
#ifndef SIDEBAND_DAEMON_COLLECTOR_WITHHOLDING_H_
#define SIDEBAND_DAEMON_COLLECTOR_WITHHOLDING_H_

#include <cstdint>
#include <optional>

#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Of one device. Not thread-safe.
class Withholding {
 public:
  // While a confidential VM is there, and until the device restarts: what the VM has counted stays in the device's
  // block when its own is gone, so that the block less what was published before would be the VM's.
  bool Applies(const Topology& topology, const mailbox::Snapshot& raw) {
    if (topology.has_confidential_vm()) boot_id_ = raw.boot_id;
    return boot_id_ == raw.boot_id;
  }

 private:
  std::optional<uint64_t> boot_id_;  // in which there was one
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_WITHHOLDING_H_
