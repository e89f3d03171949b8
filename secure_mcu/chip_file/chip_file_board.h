// SPDX-License-Identifier: Apache-2.0
//
// The power model and the board of a chip file: the keys `power` and `board`.
//   SIDEBAND_RETURN_IF_ERROR(ReadPower(root, file));
//   SIDEBAND_RETURN_IF_ERROR(ReadBoard(root, file));       // after its domains and its sources of wires
//   SIDEBAND_RETURN_IF_ERROR(CheckEnergies(file, plan.events));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_BOARD_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_BOARD_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

absl::Status ReadPower(const YamlMap& root, ChipFile& file);
absl::Status ReadBoard(const YamlMap& root, ChipFile& file);
// Whether the chip counts the events that they name. The events of a waveform are unknown until its signal map is
// loaded; LiveDevice::Create checks them.
absl::Status CheckEnergies(const ChipFile& file, const EventTable& events);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_BOARD_H_
