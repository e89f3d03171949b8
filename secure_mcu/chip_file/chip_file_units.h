// SPDX-License-Identifier: Apache-2.0
//
// The counted units of a chip file: `units`, `shared_units`, `device_units` and `ccus`.
//   SIDEBAND_RETURN_IF_ERROR(ReadAllUnits(root, file));   // needs file.pipeline.slices and file.ulc
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_UNITS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_UNITS_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Checks each value by itself; unit_plan.h checks their combination.
absl::Status ReadAllUnits(const YamlMap& root, ChipFile& file);

// `counter_bits`, `period` and `lanes` of one unit or of the pipeline. On entry `ulc` holds the values of absent keys;
// a period is shortened to the longest that the counters can hold.
absl::Status ReadUlcShape(const YamlMap& map, UlcSpec& ulc);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_UNITS_H_
