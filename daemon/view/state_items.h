// SPDX-License-Identifier: Apache-2.0
//
// The items of STREAM_MODE_ON_CHANGE as one caller sees them: state, no measurements.
//   std::vector<sideband::v1::StateItem> items;
//   AddDeviceItems(device, filter, /*names_rows=*/false, items);
//   AddLimitItems(board, clock.Steady(), items);
//   const sideband::v1::StateItem identity = IdentityOf(items.front());
#ifndef SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_
#define SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_

#include <vector>

#include "absl/time/time.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The device, and its scopes that the filter selects. `names_rows`: the filter has a VM, a context or events; a device
// without a selected scope then has no item, and nor have confidential VMs, of which no row can be selected.
void AddDeviceItems(const VisibleDevice& device, const RowFilter& filter, bool names_rows,
                    std::vector<sideband::v1::StateItem>& out);

// The board's sensors that are limits: thresholds of temperatures, limits of power, ranges of clocks.
void AddLimitItems(const VisibleBoard& board, absl::Duration steady_now, std::vector<sideband::v1::StateItem>& out);

// The fields that identify the item: its other fields may change. A board's event has no identity.
sideband::v1::StateItem IdentityOf(const sideband::v1::StateItem& item);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_STATE_ITEMS_H_
