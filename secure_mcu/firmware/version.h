// SPDX-License-Identifier: Apache-2.0
//
// What `sideband-mcu --version` and the emulated device's driver say.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_

namespace sideband::mcu {

inline constexpr char kProgramVersion[] = "sideband-mcu 0.1.0";

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_
