// SPDX-License-Identifier: Apache-2.0
//
// The part of a chip file that says what is counted: `units`, `device_units` and `ccus`.
//   SIDEBAND_RETURN_IF_ERROR(ReadAllUnits(root, file));   // needs file.pipeline.slices and file.ulc
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_UNITS_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_UNITS_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

// Each value is checked by itself; whether they go together is for unit_plan.h.
absl::Status ReadAllUnits(const YamlMap& root, ChipFile& file);

// `counter_bits`, `period` and `lanes` of a unit or of all; `ulc` holds what absent keys mean, but a period is never
// longer than the counters can hold.
absl::Status ReadUlcShape(const YamlMap& map, UlcSpec& ulc);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_UNITS_H_
