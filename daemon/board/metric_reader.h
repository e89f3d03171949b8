// SPDX-License-Identifier: Apache-2.0
//
// GPU_PERFORMANCE_MONITORING: metrics of the whole device, of its partitions (GPU instances) and of their compute
// instances, all of one captured snapshot; and which partitions there are. Plausible: percentages from 0 to 100, a
// little above being 100. Metrics for each link are read with the links (nvlink_traffic.h), those for each NVDEC and
// NVJPG by themselves (decoder_reader.h).
#ifndef SIDEBAND_DAEMON_BOARD_METRIC_READER_H_
#define SIDEBAND_DAEMON_BOARD_METRIC_READER_H_

#include <cstdint>

#include "daemon/board/group_round.h"

namespace sideband::daemon {

inline constexpr uint8_t kComputeInstancesMax = 8;  // of a partition

// Values are of the time between the two latest captures. Of partitions, those of the last PlanPartitions.
void PlanMetrics(GroupRound& round);

// Asks for a metric of each possible partition, and of each compute instance of one that exists: one that does not
// answers ERR_ARG2 or ERR_DATA. Nothing is asked where the flags say that MIG is off.
void PlanPartitions(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_METRIC_READER_H_
