// SPDX-License-Identifier: Apache-2.0
//
// Flags of the board (GET_MISC_FLAGS) and its write protection (ACCESS_WP_MODE).
#ifndef SIDEBAND_DAEMON_BOARD_FLAG_READER_H_
#define SIDEBAND_DAEMON_BOARD_FLAG_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanFlags(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_FLAG_READER_H_
