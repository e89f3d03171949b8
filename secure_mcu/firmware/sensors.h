// SPDX-License-Identifier: Apache-2.0
//
// Temperature, power and energy, computed from the device's counters.
//   Sensors sensors(device, PowerModel(config));
//   sensors.GetTemperature(0, /*with_fraction=*/true);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// The GPU's sensors are the only ones. Other sensors that SMBPBI defines are ERR_NOT_SUPPORTED, undefined ones
// ERR_ARG1. Of events that take turns, estimates are used; while one that uses energy has not had any turn, the sensors
// are ERR_NOT_AVAILABLE. Not thread-safe.
class Sensors {
 public:
  // `device` must outlive it.
  Sensors(Device& device, PowerModel power);

  // s24.8 degrees Celsius; the fraction is 0 unless `with_fraction` is set.
  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  // Milliwatts.
  Reply GetPower(uint8_t source);
  // Millijoules since the start: low half in data, high half in extended data.
  Reply GetEnergy(uint8_t source);

  // Millijoules since the start, as of the last commit; nullopt if they are not available.
  std::optional<uint64_t> EnergyMj();

 private:
  // Whether it is available.
  bool Update();
  // The device's, with the estimates of events that take turns.
  std::optional<std::vector<uint64_t>> Counts();

  Device& device_;
  PowerModel power_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
