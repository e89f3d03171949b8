// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' identity, flags, events and messages, and of how old all values are.
//   for (const BoardFamilyRow& row : BoardStateFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_STATE_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_STATE_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardStateFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_STATE_FAMILIES_H_
