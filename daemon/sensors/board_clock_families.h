// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' clocks, and of what slows them down.
//   for (const BoardFamilyRow& row : BoardClockFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_CLOCK_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_CLOCK_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardClockFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_CLOCK_FAMILIES_H_
