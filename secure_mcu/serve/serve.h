// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu serve`: an emulated device on a virtual bus until it is told to stop.
#ifndef SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
#define SIDEBAND_SECURE_MCU_SERVE_SERVE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/serve/live_device.h"

namespace sideband::mcu {

struct ServeOptions {
  std::string chip_file;
  std::string bus;          // unix:PATH, or unix:PATH@0x4f for another address
  std::string guest_views;  // a folder for the guests' views; empty: none
  Persona persona = Persona::kSideband;
  uint64_t boot_id = 0;  // any number that no earlier start has used
  LiveDevice::Elapsed elapsed;
};

// Prints one line on standard error when it is ready. Returns OK once `stop` is true, which a signal handler may set.
absl::Status Serve(const ServeOptions& options, const std::atomic<bool>& stop);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_SERVE_H_
