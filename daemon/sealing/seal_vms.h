// SPDX-License-Identifier: Apache-2.0
//
// Seals the confidential VMs of a snapshot.
#ifndef SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_
#define SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// The content of a VM's records of suite 2: everything that the VM's owner may see, as SealedContent has it in suite 1.
// It has the rows and events of exchange::VmCounts, with coverage where events have gates or are multiplexed, and with
// estimates where they are multiplexed.
envelope::SealedCounts CountsForOwner(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm,
                                      absl::Time host_time);

// The holders of the keys that seal.
struct VmSealers {
  SealerSet& with_static_keys;
  ExchangeBook* exchanged = nullptr;  // nullptr: no keys are exchanged
};

// Returns, for each confidential VM with a block: with a static key, one shared record and one record per stream with a
// nonce, each with a sideband.v1.SealedContent; and one record per exchange with the VM's guest, with CountsForOwner.
// All have the rows of the VM and its contexts. A VM without a key has no record: its counts are withheld. Keys of VMs
// that are gone are destroyed. A VM that the device has sealed has the device's records, as they are. All intermediate
// plaintext is wiped. Errors are those of SealerSet::Seal; a VM whose exchange has no keys left has no record of it.
absl::StatusOr<std::vector<SealedVmRecord>> SealVms(const DeviceInfo& device, const Topology& topology,
                                                    const mailbox::Snapshot& raw, absl::Time host_time,
                                                    const VmSealers& sealers);

// The confidential VMs whose blocks the snapshot lacks, ascending: their device seals them.
std::vector<uint16_t> VmsSealedByDevice(const Topology& topology, const mailbox::Snapshot& raw);

// Returns for each VM the used share of the records that its most used session key may seal, from 0 to 1.
std::map<Uuid, double> BudgetsUsed(const std::vector<SealedVmRecord>& sealed);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_SEAL_VMS_H_
