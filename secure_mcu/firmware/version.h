// SPDX-License-Identifier: Apache-2.0
//
// The version reported by `sideband-mcu --version` and by the emulated device's driver.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/version.h"

namespace sideband::mcu {

inline std::string ProgramVersion() { return absl::StrCat("sideband-mcu ", BuildVersion()); }

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_VERSION_H_
