// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a chip file: `device.clock_hz`, `slices` and `pipeline`.
//   SIDEBAND_RETURN_IF_ERROR(ReadPipeline(root, device, file));   // `device` is the mapping under `device`
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PIPELINE_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PIPELINE_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Fills file.pipeline (except units and events), file.ulc and file.threshold, within the ranges of pipeline_config.h.
// Rejects periods that are too short for emulation in real time (pace.h).
absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_PIPELINE_H_
