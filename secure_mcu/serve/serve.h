// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu serve`: an emulated device on a virtual bus until it is told to stop.
#ifndef SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
#define SIDEBAND_SECURE_MCU_SERVE_SERVE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/serve/live_device.h"

namespace sideband::mcu {

struct ServeOptions {
  // One device each: FILE, or FILE@0x4e for another address than the bus says. At least one.
  std::vector<std::string> chips;
  std::string bus;          // unix:PATH, or unix:PATH@0x4f for another address
  std::string guest_views;  // a folder for the guests' views; empty: none
  std::string faults;       // a fault plan for the bus (sim/bus_faults); empty: none
  Persona persona = Persona::kSideband;
  // Any number that no earlier start has used; further devices and the restarts of a fault plan count on from it.
  uint64_t boot_id = 0;
  LiveDevice::Elapsed elapsed;
};

// Prints one line on standard error when it is ready; with a fault plan, one with its seed, one at each restart, and
// one at the end with what came about. Returns OK once `stop` is true, which a signal handler may set.
absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
