// SPDX-License-Identifier: Apache-2.0
//
// Which reader plans the commands of which group.
//   PlanGroup(round);   // of round.group()
#ifndef SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_
#define SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanGroup(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_GROUP_PLANS_H_
