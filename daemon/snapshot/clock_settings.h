// SPDX-License-Identifier: Apache-2.0
//
// What the configuration says of a device's clocks (`devices[].clocks`).
//   const ClockSettings settings{.trigger_hz = 1000};
#ifndef SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_
#define SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_

#include <cstdint>
#include <optional>

namespace sideband::daemon {

struct ClockSettings {
  // The grid of triggers, at which marks are served: started once in each boot of the device; 0: stopped. None: the
  // device's grid is left alone.
  std::optional<uint32_t> trigger_hz;
  // The reference clock's frequency is at most so far from its nominal one, by the host's raw clock, and changes by so
  // much in a second at most.
  uint32_t host_ppm_max = 200;
  uint32_t host_wander_ppb = 50;

  bool operator==(const ClockSettings&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_
