// SPDX-License-Identifier: Apache-2.0
//
// How a device's base commands are used.
//   boards.SetSettings(device, {.is_read = true, .bus_share = 0.1});
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_

namespace sideband::daemon {

struct BoardSettings {
  bool is_read = false;    // whether they are used at all
  double bus_share = 0.3;  // of the bus's time, above 0 and at most 1
  bool operator==(const BoardSettings&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_
