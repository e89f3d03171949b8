// SPDX-License-Identifier: Apache-2.0
//
// The PCIe link and NVLinks (GET_PCIE_LINK_INFO, GET_NVLINK_INFO). Plausible: at most 32 NVLinks of 1 Tbit/s. Traffic
// of the PCIe link is not read: its unit is not public.
#ifndef SIDEBAND_DAEMON_BOARD_LINK_READER_H_
#define SIDEBAND_DAEMON_BOARD_LINK_READER_H_

#include "daemon/board/group_round.h"

namespace sideband::daemon {

void PlanPcie(GroupRound& round);
// The number of links is read first.
void PlanNvlink(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_LINK_READER_H_
