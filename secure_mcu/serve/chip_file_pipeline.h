// SPDX-License-Identifier: Apache-2.0
//
// The part of a chip file that says how the pipeline is built: `device.clock_hz`, `slices` and `pipeline`.
//   SIDEBAND_RETURN_IF_ERROR(ReadPipeline(root, device, file));   // `device` is the mapping under `device`
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_PIPELINE_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_PIPELINE_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

// Fills file.pipeline (but for units and events), file.ulc and file.threshold, within the ranges of pipeline_config.h.
// Periods are refused for which an emulator has no time.
absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_PIPELINE_H_
