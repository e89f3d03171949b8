// SPDX-License-Identifier: Apache-2.0
//
// The `memory` key of a chip file: the memory of the device.
//   SIDEBAND_RETURN_IF_ERROR(ReadMemory(root, file));   // needs file.vms
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_MEMORY_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// 16 TiB.
inline constexpr uint64_t kMemoryMibMax = uint64_t{1} << 24;

// Rejects contexts with memory if `memory` is absent, and a total below the sum of the reserve and the contexts.
absl::Status ReadMemory(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_MEMORY_H_
