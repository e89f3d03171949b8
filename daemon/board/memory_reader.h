// SPDX-License-Identifier: Apache-2.0
//
// The board's memory in use, and what is left of it (ASYNC_REQUEST 15, SYS_ID 17, REMAP_ROW_STATS,
// GET_PAGE_RETIREMENT_STATS). Plausible: at most 16 TiB. Its errors: ecc_reader.h.
#ifndef SIDEBAND_DAEMON_BOARD_MEMORY_READER_H_
#define SIDEBAND_DAEMON_BOARD_MEMORY_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanMemory(GroupRound& round);
void PlanRowRemaps(GroupRound& round);
void PlanRetiredPages(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_MEMORY_READER_H_
