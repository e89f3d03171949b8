// SPDX-License-Identifier: Apache-2.0
//
// Pending events (REGISTER_ACCESS, register 1), which are counted and cleared, and the driver's messages
// (GET_DRIVER_EVENT_MSG), which the board drops when they are read.
//   A restart of the board, cold or warm, sets BoardMemory::saw_reset.
#ifndef SIDEBAND_DAEMON_BOARD_EVENT_READER_H_
#define SIDEBAND_DAEMON_BOARD_EVENT_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

// A round reads at most this many; the next round goes on.
inline constexpr int kMessagesPerRoundMax = 4;

// Events are cleared by writing 0, as public scripts do: on a board that stores what is written, anything else would
// raise events. One that is raised between the read and the write is lost.
void PlanEvents(GroupRound& round);
// Without scratch memory, nothing is added.
void PlanDriverMessages(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_EVENT_READER_H_
