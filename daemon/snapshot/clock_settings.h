// SPDX-License-Identifier: Apache-2.0
//
// What the configuration says of a device's clocks (`devices[].clocks`).
//   const ClockSettings settings{.trigger_hz = 1000};
#ifndef SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_
#define SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace sideband::daemon {

// A wire by which a trigger of one device reaches others.
struct TriggerLineSettings {
  std::string name;
  bool drives = false;  // a pulse for each snapshot; the others of the line receive it
  std::string driver;   // the device that does; empty: none, so that any device may have sent a pulse
  // From the sender to this device.
  absl::Duration wire_min, wire_max;
  bool operator==(const TriggerLineSettings&) const = default;
};

struct ClockSettings {
  // The grid of triggers, at which marks are served: started once in each boot of the device; 0: stopped. None: the
  // device's grid is left alone.
  std::optional<uint32_t> trigger_hz;
  // The reference clock's frequency is at most so far from its nominal one, by the host's raw clock, and changes by so
  // much in a second at most.
  uint32_t host_ppm_max = 200;
  uint32_t host_wander_ppb = 50;
  // A clock is taken to be steady for so long at most: then a segment ends.
  absl::Duration segment_max = absl::Seconds(30);
  // The error of the host times of marks, for tenants: a constant. Times that are known less closely are absent. None:
  // the error as it is.
  std::optional<absl::Duration> tenant_bound;
  // The line that the device shares with others; empty: none.
  TriggerLineSettings line;

  bool operator==(const ClockSettings&) const = default;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_CLOCK_SETTINGS_H_
