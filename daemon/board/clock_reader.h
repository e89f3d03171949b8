// SPDX-License-Identifier: Apache-2.0
//
// Clocks and their limits, the P-state, reasons of throttling, and violations (GET_CLOCK_FREQ_INFO, ASYNC_REQUEST 09).
// Plausible: at most 100 GHz. Reasons without a name are left out.
#ifndef SIDEBAND_DAEMON_BOARD_CLOCK_READER_H_
#define SIDEBAND_DAEMON_BOARD_CLOCK_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanClocks(GroupRound& round);
void PlanClockLimits(GroupRound& round);
void PlanViolations(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_CLOCK_READER_H_
