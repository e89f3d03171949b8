// SPDX-License-Identifier: Apache-2.0
//
// Seals the confidential VMs of a snapshot.
#ifndef SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_
#define SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Returns, for each confidential VM with a key and a block, one shared record and one record per stream with a nonce.
// Each contains a sideband.v1.SealedContent with the rows of the VM and its contexts. A VM without a key has no record:
// its counts are withheld. All intermediate plaintext is wiped. Errors are those of SealerSet::Seal.
absl::StatusOr<std::vector<SealedVmRecord>> SealVms(const DeviceInfo& device, const Topology& topology,
                                                    const mailbox::Snapshot& raw, absl::Time host_time,
                                                    SealerSet& sealers);

// Of each VM, the share of the records that its most used session key may seal, from 0 to 1.
std::map<Uuid, double> BudgetsUsed(const std::vector<SealedVmRecord>& sealed);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_
