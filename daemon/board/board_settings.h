// SPDX-License-Identifier: Apache-2.0
//
// How a device's base commands are used.
//   boards.SetSettings(device, {.is_read = true, .bus_share = 0.1});
//   boards.SetSettings(device, {.is_read = true, .is_shared = true, .burst = 8, .quiet = absl::Milliseconds(500)});
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace sideband::daemon {

struct BoardSettings {
  bool is_read = false;    // whether they are used at all
  double bus_share = 0.3;  // of the bus's time, above 0 and at most 1
  // Whether other clients use them, too, at the registers that a device without version 2 has for all.
  bool is_shared = false;
  // Of a shared mailbox: the most commands of an interval, and how long no command was run before them. All public
  // clients but one of the kernel's drivers read an answer within 100 ms after its command (smbpbi-facts.md, 2.4).
  uint32_t burst = 16;  // at least 1
  absl::Duration quiet = absl::Milliseconds(120);
  bool operator==(const BoardSettings&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_SETTINGS_H_
