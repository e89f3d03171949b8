// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' video and JPEG decoders.
//   for (const BoardFamilyRow& row : BoardDecoderFamilies()) Add(row);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_DECODER_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_DECODER_FAMILIES_H_

#include <span>

#include "daemon/sensors/board_series.h"

namespace sideband::daemon {

// In no order.
std::span<const BoardFamilyRow> BoardDecoderFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_DECODER_FAMILIES_H_
