// SPDX-License-Identifier: Apache-2.0
//
// The daemon's model as messages of the API.
//   *response.add_snapshots() = SnapshotMessage(device, filter);
#ifndef SIDEBAND_DAEMON_API_SNAPSHOT_MESSAGE_H_
#define SIDEBAND_DAEMON_API_SNAPSHOT_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/api/reader.h"
#include "daemon/api/row_filter.h"
#include "daemon/model/device_snapshot.h"
#include "daemon/model/topology.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

sideband::v1::Device DeviceMessage(const VisibleDevice& device);

sideband::v1::ScopeCounters::State StateMessage(mailbox::BlockState state);

sideband::v1::Event EventMessage(const mailbox::EventInfo& event);

// What names a row: the device (kHypervisorVm), a VM (kNoContext) or a context. What the topology does not know stays
// without a name.
sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context);

// The scopes that the view shows: rows that may be read, and confidential VMs, whose rows exist only sealed.
std::vector<sideband::v1::Scope> ScopeMessages(const DeviceInfo& device, const View& view);

// The row with all its counters: everything that the VM's owner may see. No policy is asked: this is for sealing, where
// only the holder of the key can read the result. Device-scope events are left out of rows that are not the device's.
void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       sideband::v1::ScopeCounters& out);

// The rows and counters that the device's view shows and `filter` selects. The device must have a snapshot.
sideband::v1::Snapshot SnapshotMessage(const VisibleDevice& device, const RowFilter& filter);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_SNAPSHOT_MESSAGE_H_
