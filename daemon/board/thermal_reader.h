// SPDX-License-Identifier: Apache-2.0
//
// Temperatures, the margin to the limit, and thresholds (GET_TEMP, GET_EXT_TEMP, GET_THERM_PARAM). Plausible: -60 to
// 250 °C.
#ifndef SIDEBAND_DAEMON_BOARD_THERMAL_READER_H_
#define SIDEBAND_DAEMON_BOARD_THERMAL_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanTemperature(GroupRound& round);
void PlanMargin(GroupRound& round);
void PlanThresholds(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_THERMAL_READER_H_
