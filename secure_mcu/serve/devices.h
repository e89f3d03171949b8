// SPDX-License-Identifier: Apache-2.0
//
// The emulated devices of one bus, each at an address of its own.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Place> places, LoadPlaces({"a.yaml", "b.yaml@0x4e"}, 0x4F));
//   Devices devices(bus, places, {.boot_id = id}, elapsed);
//   SIDEBAND_RETURN_IF_ERROR(devices.PowerOn());
//   while (!stop) SIDEBAND_RETURN_IF_ERROR(devices.Tick());
#ifndef SIDEBAND_SECURE_MCU_SERVE_DEVICES_H_
#define SIDEBAND_SECURE_MCU_SERVE_DEVICES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/serve/chip_spec.h"
#include "secure_mcu/serve/device_slot.h"
#include "secure_mcu/serve/live_device.h"

namespace sideband::mcu {

// Where a device is on the bus, and what it is.
struct Place {
  uint8_t address;
  ChipFile file;
};

// Of each "FILE", at `address`, or "FILE@ADDRESS". Errors are those of the chip files; INVALID_ARGUMENT for an address
// that is none, or for two devices of one address or one UUID.
absl::StatusOr<std::vector<Place>> LoadPlaces(const std::vector<std::string>& chips, uint8_t address);

// Not thread-safe.
class Devices {
 public:
  struct Options {
    Persona persona = Persona::kSideband;
    std::string guest_views;  // a folder for the guests' views; empty: none
    uint64_t boot_id = 0;     // of the first device; the others' and restarts' follow from it
  };

  // `bus` and `places` must outlive it.
  Devices(VirtualBus& bus, const std::vector<Place>& places, const Options& options,
          const LiveDevice::Elapsed& elapsed);

  absl::Status PowerOn();
  // Says on standard error who is served on the bus at `path`.
  void Tell(const std::string& path) const;
  // Counts up to now. An error where a device could not be restarted.
  absl::Status Tick();

  // What a fault plan does, to all of them.
  void Restart();
  void LatchByAnother();

 private:
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_DEVICES_H_
