// SPDX-License-Identifier: Apache-2.0
//
// The part of a chip file that says who shares the device and what they do: `vms`, and the workload of the device's own
// units.
//   SIDEBAND_RETURN_IF_ERROR(ReadVms(root, file));   // needs file.pipeline.slices and file.waveform
#ifndef SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_TENANTS_H_
#define SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_TENANTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "secure_mcu/serve/chip_spec.h"

namespace sideband::mcu {

absl::Status ReadVms(const YamlMap& root, ChipFile& file);

// The keys `seed` and `phases` of a mapping that may have others.
absl::StatusOr<WorkloadFileSpec> ReadWorkload(const YamlMap& map);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_CHIP_FILE_TENANTS_H_
