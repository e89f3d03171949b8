// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu serve`: emulated devices on a virtual bus until a stop is requested.
#ifndef SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
#define SIDEBAND_SECURE_MCU_SERVE_SERVE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {

struct ServeOptions {
  // One device each: FILE, or FILE@0x4e for an address other than that of `bus`. At least one.
  std::vector<std::string> chips;
  std::string bus;          // unix:PATH, or unix:PATH@0x4f for another address than the default
  std::string guest_views;  // folder of the guests' views; empty: no views
  std::string guest_ports;  // folder of the guests' ports; empty: no ports
  std::string faults;       // fault plan for the bus (sim/bus); empty: no faults
  Persona persona = Persona::kSideband;
  // A number that no earlier start has used. The ids of further devices and of restarts count up from it.
  uint64_t boot_id = 0;
  LiveDevice::Elapsed elapsed;
  std::function<absl::Time()> time_of_day;  // of the drivers' messages; absent: 1970
};

// Prints one line per device on standard error once it is ready. With a fault plan it also prints the seed, each
// restart and, at the end, the number of faults of each kind. Returns OK once `stop` is true; a signal handler may set
// it.
absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
