// SPDX-License-Identifier: Apache-2.0
//
// Who is counted: `gate_groups` and `host` of a chip file (virtual-counters.md).
//   SIDEBAND_RETURN_IF_ERROR(ReadGates(root, file));    // needs file.units
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_GATES_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_GATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

inline constexpr uint64_t kIdentifierMax = 65'535;  // of a gate

// The events of the slices' units, with repetitions.
std::vector<std::string> EventsOfSlices(const ChipFile& file);

absl::Status ReadGates(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_GATES_H_
