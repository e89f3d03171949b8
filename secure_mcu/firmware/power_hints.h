// SPDX-License-Identifier: Apache-2.0
//
// GET_POWER_HINT_INFO (opcode 0x26): the ranges for which a controller may ask for a hint of the power.
//   PowerHints hints(device, spec);
//   hints.Get(/*clocks*/ 0, /*graphics*/ 0).data;      // MHz: least 15:0, most 31:16
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_POWER_HINTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_POWER_HINTS_H_

#include <cstdint>

#include "secure_mcu/board/board_spec.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class PowerHints {
 public:
  // Both must outlive it.
  PowerHints(const Device& device, const BoardSpec& spec) : device_(device), spec_(spec) {}

  // `item` 0: of the graphics clock (`which` 0), the least and most level in MHz; the memory clock (1) is unknown.
  // 1: of the temperature, in whole degrees Celsius, 0 and the board's shutdown, rounded down. Both have the least in
  // 15:0 and the most in 31:16. 2: of profiles, page `which`, of which there are four: none. ERR_NOT_SUPPORTED for a
  // range that the board lacks.
  Reply Get(uint8_t item, uint8_t which) const;

 private:
  Reply Clocks(uint8_t clock) const;
  Reply Temperature(uint8_t which) const;

  const Device& device_;
  const BoardSpec& spec_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_POWER_HINTS_H_
