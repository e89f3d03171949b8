// SPDX-License-Identifier: Apache-2.0
//
// What `sideband top` shows of a device's board.
//   const BoardEntry board = BoardOf(response.devices(0));
//   row.state = BriefText(board);     // "82°C 215W"
#ifndef SIDEBAND_CLIENT_TOP_BOARD_H_
#define SIDEBAND_CLIENT_TOP_BOARD_H_

#include <optional>
#include <string>
#include <vector>

#include "sideband/v1/sensors.pb.h"

namespace sideband::client::top {

// What is unknown is absent.
struct BoardEntry {
  std::optional<double> celsius, margin_celsius;  // of the GPU
  std::optional<double> watts, limit_watts;       // of the whole board
  std::optional<double> clock_hz;                 // of graphics
  std::vector<std::string> throttles;             // reasons that are active
  bool needs_action = false;                      // a reset, a drain, or the replacement of a row is due
};

BoardEntry BoardOf(const v1::DeviceSensors& device);

// At most 12 cells for what boards have; empty if nothing is known.
std::string BriefText(const BoardEntry& board);
// "82.0 °C, 8.0 below its limit, 214.6 of 400 W, 700 MHz, throttled: software_thermal".
std::string LongText(const BoardEntry& board);

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_BOARD_H_
