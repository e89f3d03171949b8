// SPDX-License-Identifier: Apache-2.0
//
// A target that only acknowledges its address, for controllers that probe a board for its devices.
//   PresenceTarget eeprom;
//   bus.Connect(0x50, eeprom);
#ifndef SIDEBAND_SECURE_MCU_BUS_PRESENCE_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_PRESENCE_TARGET_H_

#include <cstdint>

#include "secure_mcu/bus/bus_target.h"

namespace sideband::mcu {

// Empty writes succeed, every byte is refused, and reads return the bytes of an idle bus.
class PresenceTarget final : public BusTarget {
 public:
  void Start(bool /*read*/) override {}
  bool Write(uint8_t /*byte*/) override { return false; }
  uint8_t Read() override { return 0xFF; }
  void Stop() override {}
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_PRESENCE_TARGET_H_
