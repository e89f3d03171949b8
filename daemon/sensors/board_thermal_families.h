// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' temperatures, powers and energy.
//   for (const BoardFamilyRow& row : BoardThermalFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_THERMAL_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_THERMAL_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardThermalFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_THERMAL_FAMILIES_H_
