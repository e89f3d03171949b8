// SPDX-License-Identifier: Apache-2.0
//
// What a chip's base commands tell of its confidential VMs: the key `complement` of a chip file.
//   SIDEBAND_RETURN_IF_ERROR(ReadComplement(root, file));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COMPLEMENT_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COMPLEMENT_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// A class that the file does not name keeps its default.
absl::Status ReadComplement(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_COMPLEMENT_H_
