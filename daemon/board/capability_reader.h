// SPDX-License-Identifier: Apache-2.0
//
// The capability dwords (GET_CAPABILITIES), which may change at run time, and with them whether it is still the same
// board. Selects page 0 of scratch memory, which other groups read.
#ifndef SIDEBAND_DAEMON_BOARD_CAPABILITY_READER_H_
#define SIDEBAND_DAEMON_BOARD_CAPABILITY_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

// A dword that the board does not have is 0. One that it cannot tell now stays as it was. Commands that the board has
// refused are forgotten.
void PlanCapabilities(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_CAPABILITY_READER_H_
