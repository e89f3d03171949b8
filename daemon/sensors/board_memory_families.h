// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' memories and their errors.
//   for (const BoardFamilyRow& row : BoardMemoryFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_MEMORY_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_MEMORY_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardMemoryFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_MEMORY_FAMILIES_H_
