// SPDX-License-Identifier: Apache-2.0
//
// The chip file of `sideband-mcu serve`: what the emulated device is made of, who shares it and what they do. Format
// and example: README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

// Every error is one line "FILE:LINE: what is wrong". Relative paths in the file are relative to its folder. Units that
// are read have been planned once (unit_plan.h), so that a pipeline made of them is valid.
absl::StatusOr<ChipFile> LoadChipFile(const std::string& path);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_H_
