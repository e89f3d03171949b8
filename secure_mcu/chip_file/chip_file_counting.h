// SPDX-License-Identifier: Apache-2.0
//
// A VM's control block as its chip file has it: `vms[].counting` (virtual-counters.md).
//   SIDEBAND_RETURN_IF_ERROR(ReadPrivateVms(root, file));    // needs file.extension
//   SIDEBAND_ASSIGN_OR_RETURN(vm.counting, ReadCounting(map, vm.confidential, file));    // needs groups and selections
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COUNTING_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COUNTING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// The key `private_vms`.
absl::Status ReadPrivateVms(const YamlMap& root, ChipFile& file);

// Of the key `counting` of a VM's mapping; the initial one if it is absent.
absl::StatusOr<VmControl> ReadCounting(const YamlMap& vm, bool confidential, const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COUNTING_H_
