// SPDX-License-Identifier: Apache-2.0
//
// The `program` key of a chip file: what the RISC-V machines of the slices run. Their parts become the chip's units,
// and their events its events: wire "core0.l1d_readmiss" (sim/riscv/event.h) is event core0_l1d_readmiss.
//   SIDEBAND_RETURN_IF_ERROR(ReadPrograms(root, file));   // needs file.pipeline and file.ulc
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PROGRAM_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PROGRAM_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// A mapping is the program of every slice, each on a machine of its own; a list has one for each slice. Appends their
// units to file.units, in the order of the machine's wires. The words are not read yet.
absl::Status ReadPrograms(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PROGRAM_H_
