// SPDX-License-Identifier: Apache-2.0
//
// GPU_PERFORMANCE_MONITORING for each NVDEC and NVJPG of the device: how busy it was between the two latest captures of
// metrics (metric_reader.h captures).
//   PlanDecoders(round);   // later: round.draft().decoders.ratios.at({MetricId::kNvdecPerInstance, 0})
#ifndef SIDEBAND_DAEMON_BOARD_DECODER_READER_H_
#define SIDEBAND_DAEMON_BOARD_DECODER_READER_H_

#include <cstdint>

#include "daemon/board/group_round.h"

namespace sideband::daemon {

inline constexpr uint8_t kDecodersMax = 16;  // of a kind

// A board does not tell how many it has: each is asked for until one is refused. Plausible: as other percentages.
void PlanDecoders(GroupRound& round);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_DECODER_READER_H_
