// SPDX-License-Identifier: Apache-2.0
//
// Whether the device seals its confidential VMs: the key `sealing` of a chip file.
//   SIDEBAND_RETURN_IF_ERROR(ReadSealing(root, file));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SEALING_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SEALING_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

// After VMs and rotation were read: with `sealing`, each confidential VM has to be private, so that the device's own
// block lacks its counts, and nothing may rotate, since records have no estimates. A relative path is of the chip
// file's folder. The sealing file itself is read when the device is switched on.
absl::Status ReadSealing(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SEALING_H_
