// SPDX-License-Identifier: Apache-2.0
//
// Properties of the device that need no counters: flags, clocks, and the version of its driver.
//   SystemInfo info(device);
//   info.GetClock(/*which*/ 0, /*domain*/ 0).data;      // MHz
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_

#include <cstdint>

#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class SystemInfo {
 public:
  // `device` must outlive it.
  explicit SystemInfo(const Device& device) : device_(device) {}

  // Page 0: on a device with several slices MIG is supported, enabled and stays enabled (bits 3 to 5); its driver runs
  // (bit 6). Page 1: no reset is needed.
  Reply GetFlags(uint8_t page) const;
  // In MHz. The graphics clock is the reference clock, which never changes; the memory clock is unknown.
  Reply GetClock(uint8_t which, uint8_t domain) const;
  // Item 0: the emulator's name and version, 64 characters.
  Reply GetVersion(uint8_t item, uint8_t dword) const;

 private:
  const Device& device_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
