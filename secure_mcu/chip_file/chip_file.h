// SPDX-License-Identifier: Apache-2.0
//
// The chip file of `sideband-mcu serve`: the units of the emulated device, its VMs and contexts, and their workloads.
// Format and example: README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Every error is one line "FILE:LINE: description". Relative paths in the file are resolved against its folder. The
// units have been planned once (unit_plan.h), so a pipeline built from the result is valid.
absl::StatusOr<ChipFile> LoadChipFile(const std::string& path);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_H_
