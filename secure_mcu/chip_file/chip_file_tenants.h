// SPDX-License-Identifier: Apache-2.0
//
// The tenants of a chip file and their workloads: `vms`, and the workload of the device's own units.
//   SIDEBAND_RETURN_IF_ERROR(ReadVms(root, file));   // needs file.pipeline.slices and file.waveform
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_TENANTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_TENANTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// Of what tenants do, and of what is done with them.
inline constexpr absl::Duration kTimeMax = absl::Hours(24);

absl::Status ReadVms(const YamlMap& root, ChipFile& file);

// Reads the keys `seed` and `phases` of a mapping, which may have other keys.
absl::StatusOr<WorkloadFileSpec> ReadWorkload(const YamlMap& map);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_TENANTS_H_
