// SPDX-License-Identifier: Apache-2.0
//
// How events take turns: `relations` and `rotation` of a chip file (counter-rotation.md).
//   SIDEBAND_RETURN_IF_ERROR(ReadRotationKeys(root, file));    // needs file.units and file.extension
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_ROTATION_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_ROTATION_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Checks each value by itself; event_turns.h checks them against the units.
absl::Status ReadRotationKeys(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_ROTATION_H_
