// SPDX-License-Identifier: Apache-2.0
//
// The place of a device on the bus. A fault plan can restart the device there, interfere as another controller
// and damage the device's board: the faults that are not faults of the wire.
//   DeviceSlot slot(bus, file, {.boot_id = id}, elapsed);
//   SIDEBAND_RETURN_IF_ERROR(slot.PowerOn());
//   while (slot.status().ok()) slot.Tick();
#ifndef SIDEBAND_SECURE_MCU_SERVE_DEVICE_SLOT_H_
#define SIDEBAND_SECURE_MCU_SERVE_DEVICE_SLOT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/serve/served_device.h"
#include "sim/bus_faults/board_fault.h"

namespace sideband::mcu {

// Not thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_DEVICE_SLOT_H_
