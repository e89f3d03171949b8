// SPDX-License-Identifier: Apache-2.0
//
// A device's place on the bus, where it can be restarted, and where another controller may interfere: what a fault plan
// does beside the wire.
//   DeviceSlot slot(bus, file, {.boot_id = id}, elapsed);
//   SIDEBAND_RETURN_IF_ERROR(slot.PowerOn());
//   while (slot.status().ok()) slot.Tick();
#ifndef SIDEBAND_SECURE_MCU_SERVE_DEVICE_SLOT_H_
#define SIDEBAND_SECURE_MCU_SERVE_DEVICE_SLOT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/serve/chip_spec.h"
#include "secure_mcu/serve/live_device.h"
#include "secure_mcu/serve/served_device.h"

namespace sideband::mcu {

// Not thread-safe.
class DeviceSlot {
 public:
  // `bus` and `file` must outlive it. The first start has the options' boot id, each restart the next one.
  DeviceSlot(VirtualBus& bus, const ChipFile& file, ServedDevice::Options options, LiveDevice::Elapsed elapsed);

  // Time and counts begin at zero. After an error nobody is at the address.
  absl::Status PowerOn();
  // PowerOn for who has no use for its error; says so on standard error.
  void Restart();
  // Of the newest start. The device is there while it is OK.
  const absl::Status& status() const { return status_; }

  // Another controller's LATCH, with no regard to anybody else's commands.
  void LatchByAnother();

  uint8_t address() const { return options_.board.address; }
  // Only while the device is there.
  const DeviceIdentity& identity() const { return device_->identity(); }
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
