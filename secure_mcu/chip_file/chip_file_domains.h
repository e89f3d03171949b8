// SPDX-License-Identifier: Apache-2.0
//
// The clock domains of a chip file, and its scheduler and trigger line: `domains`, `scheduler` and
// `trigger_line` (clocks.md).
//   SIDEBAND_RETURN_IF_ERROR(ReadDomains(root, file));          // needs file.pipeline.clock_hz
//   SIDEBAND_RETURN_IF_ERROR(ReadAllUnits(root, file));         // each in one of them
//   SIDEBAND_RETURN_IF_ERROR(FinishDomains(root, file));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_DOMAINS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_DOMAINS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"

namespace sideband::mcu {

absl::Status ReadDomains(const YamlMap& root, ChipFile& file);
// The domain that the node names, as UlcSpec::domain.
absl::StatusOr<uint32_t> FindDomain(const YamlNode& node, const ChipFile& file);
// Reads the scheduler, and finds the domains whose clock is one for several slices or the device.
absl::Status FinishDomains(const YamlMap& root, ChipFile& file);
absl::Status ReadTriggerLine(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_DOMAINS_H_
