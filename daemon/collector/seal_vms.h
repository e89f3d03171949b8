// SPDX-License-Identifier: Apache-2.0
//
// Sealed records of the confidential VMs in a snapshot.
#ifndef SIDEBAND_DAEMON_COLLECTOR_SEAL_VMS_H_
#define SIDEBAND_DAEMON_COLLECTOR_SEAL_VMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "daemon/model/device_snapshot.h"
#include "daemon/sealing/sealer_set.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// One record for each confidential VM that has a key and a block, holding a sideband.v1.SealedContent with the VM's row
// and its contexts'. A VM without a key has none: its counts are withheld. Every plaintext that is made on the way is
// wiped. Errors are those of SealerSet::Seal.
absl::StatusOr<std::vector<SealedVmRecord>> SealVms(const DeviceInfo& device, const Topology& topology,
                                                    const mailbox::Snapshot& raw, absl::Time host_time,
                                                    SealerSet& sealers);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_SEAL_VMS_H_
