// SPDX-License-Identifier: Apache-2.0
//
// The data of a device that a caller sees, as messages of the API.
//   *response.add_snapshots() = SnapshotMessage(device, filter);
#ifndef SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_
#define SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_

#include <vector>

#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

sideband::v1::Device DeviceMessage(const VisibleDevice& device);

// The scopes that the view shows: readable rows, and confidential VMs, whose rows exist only in sealed records.
std::vector<sideband::v1::Scope> ScopeMessages(const DeviceInfo& device, const View& view);

// The rows and counters that the device's view shows and `filter` selects. The device must have a snapshot.
// = SnapshotBodyMessage(device, filter) with the fields of MomentMessage(device).
sideband::v1::Snapshot SnapshotMessage(const VisibleDevice& device, const RowFilter& filter);

// What was counted is a lower bound of what happened: for an event that takes turns and is not estimated.
void SetCountedOnly(sideband::v1::Counter& counter);

// The fields of a snapshot that are the same for everybody with this view, as long as the snapshot is fresh or once it
// is not.
sideband::v1::Snapshot SnapshotBodyMessage(const VisibleDevice& device, const RowFilter& filter);
// The others: device_state and age.
sideband::v1::Snapshot MomentMessage(const VisibleDevice& device);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_
