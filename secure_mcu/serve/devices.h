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
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/trigger_line.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/serve/served_device.h"
#include "sim/bus_faults/board_fault.h"

namespace sideband::mcu {

// The place of a device on the bus. A fault plan can restart the device there, interfere as another controller
// and damage the device's board: the faults that are not faults of the wire. Not thread-safe.
class DeviceSlot {
 public:
  // `bus` and `file` must outlive the slot. The first start has the boot id of the options; each restart increments it.
  DeviceSlot(VirtualBus& bus, const ChipFile& file, ServedDevice::Options options, LiveDevice::Elapsed elapsed);

  // Starts the device, with time and counts at zero. After an error no device is at the address.
  absl::Status PowerOn();
  // PowerOn for callers that ignore its error. A success is reported on standard error.
  void Restart();
  // The status of the newest start. The device exists while it is OK.
  const absl::Status& status() const { return status_; }

  // Sends the LATCH of another controller, regardless of pending commands.
  void LatchByAnother();
  // A fault of the device's board, until the next start. Ignored while no device exists.
  void Strike(const sim::BoardFault& fault);

  uint8_t address() const { return options_.board.address; }
  // Valid only while the device exists.
  const DeviceIdentity& identity() const { return device_->identity(); }
  int guests_fd() const { return device_->guests_fd(); }
  void Tick() { device_->Tick(); }

 private:
  VirtualBus& bus_;
  const ChipFile& file_;
  ServedDevice::Options options_;  // of the next start
  const LiveDevice::Elapsed elapsed_;
  std::unique_ptr<ServedDevice> device_;
  absl::Status status_;
};

// A device of the bus: its address and its chip file.
struct Place {
  uint8_t address;
  ChipFile file;
};

// One place per "FILE" (at `address`) or "FILE@ADDRESS". Errors are those of the chip files; INVALID_ARGUMENT for a
// malformed address, and for two devices with the same address or UUID.
absl::StatusOr<std::vector<Place>> LoadPlaces(const std::vector<std::string>& chips, uint8_t address);

// Not thread-safe.
class Devices {
 public:
  struct Options {
    Persona persona = Persona::kSideband;
    std::string guest_views;  // folder of the guests' views; empty: no views
    std::string guest_ports;  // folder of the guests' ports; empty: no ports
    uint64_t boot_id = 0;     // of the first device; the ids of other devices and of restarts follow from it
    std::function<absl::Time()> time_of_day;  // as in ServedDevice::Options
  };

  // `bus` and `places` must outlive it.
  Devices(VirtualBus& bus, const std::vector<Place>& places, const Options& options,
          const LiveDevice::Elapsed& elapsed);

  absl::Status PowerOn();
  // Prints one line per device on standard error: its UUID, its address and boot id, and `path`, the bus.
  void PrintAddresses(const std::string& path) const;
  // Readable when a guest waits for the next Tick; -1 if none can. Only one device can have ports.
  int guests_fd() const { return slots_[0]->guests_fd(); }
  // Counts up to the present, and serves guests. Returns an error if a device could not be restarted.
  absl::Status Tick();

  // The effects of a fault plan, applied to all devices.
  void Restart();
  void LatchByAnother();
  void Strike(const sim::BoardFault& fault);

 private:
  // Of that name; nullptr of a chip without one.
  TriggerLine* LineOf(const ChipFile& file);

  std::map<std::string, TriggerLine> lines_;  // by name
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_DEVICES_H_
