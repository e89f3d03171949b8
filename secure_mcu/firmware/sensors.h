// SPDX-License-Identifier: Apache-2.0
//
// Temperature, power and energy, and the thresholds of temperature, as of a board's physics.
//   Sensors sensors(device, board, {.temperature = Complement::kWithhold});
//   sensors.GetTemperature(0, /*with_fraction=*/true);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_

#include <cstdint>
#include <optional>

#include "proto/mailbox/board_items.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// A sensor that the board lacks (BoardSpec) is ERR_NOT_SUPPORTED, one that SMBPBI does not define ERR_ARG1. Of events
// that are multiplexed, estimates are used; while one that uses energy has not had any turn, the sensors are
// ERR_NOT_AVAILABLE, and so is what the policy withholds. Not thread-safe.
class Sensors {
 public:
  // Both must outlive it. The policy's classes power, energy and temperature apply.
  Sensors(Device& device, BoardUnit& board, const ComplementPolicy& complement = {})
      : device_(device), board_(board), complement_(complement) {}

  // s24.8 degrees Celsius; the fraction is 0 unless `with_fraction` is set.
  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  // s24.8 degrees Celsius, or degrees below the hardware's slowdown (ThermParam).
  Reply GetThermParam(uint8_t param) const;
  // Milliwatts.
  Reply GetPower(uint8_t source);
  // Millijoules since the start: low half in data, high half in extended data.
  Reply GetEnergy(uint8_t source);

  // Millijoules since the start, as of the last commit; nullopt if they are not available.
  std::optional<uint64_t> EnergyMj();

 private:
  bool HasTemperature(mailbox::TempSensor sensor) const;
  bool HasPower(mailbox::PowerSource source) const;
  double ModuleOverheadMw() const { return board_.spec.module_overhead_mw.value_or(0); }
  std::optional<double> ExactEnergyMj();

  Device& device_;
  BoardUnit& board_;
  const ComplementPolicy complement_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SENSORS_H_
