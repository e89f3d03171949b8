// SPDX-License-Identifier: Apache-2.0
//
// The units of a chip file's device, their cost in flip-flops and in transferred bits, and the cost of a flat design
// instead.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const Description description, Describe(file));
//   std::fputs(FormatTree(description).c_str(), stdout);   // format.h
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_DESCRIBE_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_DESCRIBE_H_

#include "absl/status/statusor.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// Errors are those of the chip file's parts, and of the waveform's files, which are read for their wires.
absl::StatusOr<Description> Describe(const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_DESCRIBE_H_
