// SPDX-License-Identifier: Apache-2.0
//
// A board's identity (GET_SYS_ID, and the driver's version), and by what another board is recognised. Plausible: texts
// of printable ASCII, ended by zeros.
#ifndef SIDEBAND_DAEMON_BOARD_IDENTITY_READER_H_
#define SIDEBAND_DAEMON_BOARD_IDENTITY_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanIdentity(GroupRound& round);

// The serial number, or else the GUID. One that differs from that of the last call sets BoardMemory::saw_reset.
void AddIdentityCheck(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_IDENTITY_READER_H_
