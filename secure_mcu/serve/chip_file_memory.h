// SPDX-License-Identifier: Apache-2.0
//
// The part of a chip file that says how much memory the device has: `memory`.
//   SIDEBAND_RETURN_IF_ERROR(ReadMemory(root, file));   // needs file.vms
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_MEMORY_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

// 16 TiB.
inline constexpr uint64_t kMemoryMibMax = uint64_t{1} << 24;

// Refused where contexts have memory and the device has none, or less than they and the reserve need together.
absl::Status ReadMemory(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_MEMORY_H_
