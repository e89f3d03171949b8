// SPDX-License-Identifier: Apache-2.0
//
// Temperature, power and energy, computed from what the device counts.
//   Sensors sensors(device, PowerModel(config));
//   sensors.GetTemperature(0, /*with_fraction=*/true);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_

#include <cstdint>

#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// There is one sensor of each kind, the GPU's. Others that SMBPBI knows are ERR_NOT_SUPPORTED, those that it does not
// know ERR_ARG1. Not thread-safe.
class Sensors {
 public:
  // `device` must outlive it.
  Sensors(Device& device, PowerModel power);

  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  Reply GetPower(uint8_t source);
  Reply GetEnergy(uint8_t source);

  // Since the start, as of the last commit.
  uint64_t EnergyMj();

 private:
  void Update();

  Device& device_;
  PowerModel power_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
