// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' PCIe link and NVLinks.
//   for (const BoardFamilyRow& row : BoardLinkFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_LINK_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_LINK_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardLinkFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_LINK_FAMILIES_H_
