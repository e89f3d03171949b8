// SPDX-License-Identifier: Apache-2.0
//
// Traffic of an NVLink: the bytes that it has carried (GET_NVLINK_INFO, throughput), and its bandwidths between the two
// latest captures of metrics (GPU_PERFORMANCE_MONITORING, for each link).
//   for (size_t link = 0; link < count; ++link) AddNvlinkTraffic(round, link);
#ifndef SIDEBAND_DAEMON_BOARD_NVLINK_TRAFFIC_H_
#define SIDEBAND_DAEMON_BOARD_NVLINK_TRAFFIC_H_

#include <cstddef>

#include "daemon/board/group_round.h"

namespace sideband::daemon {

// Of a link that the draft has; what the board announces. A board says what was carried since it was last asked: what
// another controller has asked for is lost.
void AddNvlinkTraffic(GroupRound& round, size_t link);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_NVLINK_TRAFFIC_H_
