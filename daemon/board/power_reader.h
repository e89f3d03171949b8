// SPDX-License-Identifier: Apache-2.0
//
// Power, energy, and limits of power (GET_POWER, GET_ENERGY_COUNTER, ASYNC_REQUEST 00, 02, 08, 12 and 14). Plausible:
// at most 10 kW. Energy that falls has begun anew, except where a counter of 32 bits has wrapped within that power.
#ifndef SIDEBAND_DAEMON_BOARD_POWER_READER_H_
#define SIDEBAND_DAEMON_BOARD_POWER_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanPower(GroupRound& round);
void PlanEnergy(GroupRound& round);
void PlanPowerLimits(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_POWER_READER_H_
