// SPDX-License-Identifier: Apache-2.0
//
// What VMs may choose to count: `selections` of a chip file (virtual-counters.md).
//   SIDEBAND_RETURN_IF_ERROR(ReadSelections(root, file));    // needs file.units and file.extension
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SELECTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SELECTIONS_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Checks each selection by itself; selection_plan.h checks them against the units.
absl::Status ReadSelections(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SELECTIONS_H_
