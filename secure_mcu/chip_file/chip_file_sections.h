// SPDX-License-Identifier: Apache-2.0
//
// The sections of a chip file that chip_file.cc reads into one ChipFile.
//   SIDEBAND_RETURN_IF_ERROR(ReadSelections(root, file));    // needs file.units and file.extension
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_

#include "absl/status/status.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

// The power model and the board of a chip file: the keys `power` and `board`.
absl::Status ReadPower(const YamlMap& root, ChipFile& file);
absl::Status ReadBoard(const YamlMap& root, ChipFile& file);
// Whether the chip counts the events that they name. The events of a waveform are unknown until its signal map is
// loaded; LiveDevice::Create checks them.
absl::Status CheckEnergies(const ChipFile& file, const EventTable& events);

// What a chip's base commands tell of its confidential VMs: the key `complement` of a chip file.
// A class that the file does not name keeps its default.
absl::Status ReadComplement(const YamlMap& root, ChipFile& file);

// The pipeline of a chip file: `device.clock_hz`, `slices` and `pipeline`.
// Fills file.pipeline (except units and events), file.ulc and file.threshold, within the ranges of pipeline_config.h.
// Rejects periods that are too short for emulation in real time (pace.h).
absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file);

// The `program` key of a chip file: what the RISC-V machines of the slices run. Their parts become the chip's units,
// and their events its events: wire "core0.l1d_readmiss" (sim/riscv/shape.h) is event core0_l1d_readmiss.
// A mapping is the program of every slice, each on a machine of its own; a list has one for each slice. Appends their
// units to file.units, in the order of the machine's wires. The words are not read yet.
absl::Status ReadPrograms(const YamlMap& root, ChipFile& file);

// How events take turns: `relations` and `rotation` of a chip file (counter-rotation.md).
// Checks each value by itself; PlanUnits checks them against the units.
absl::Status ReadRotationKeys(const YamlMap& root, ChipFile& file);

// Whether the device seals its confidential VMs: the key `sealing` of a chip file.
// After VMs and rotation were read: with `sealing`, each confidential VM has to be private, so that the device's own
// block lacks its counts, and nothing may rotate, since records have no estimates. A relative path is of the chip
// file's folder. The sealing file itself is read when the device is switched on.
absl::Status ReadSealing(const YamlMap& root, ChipFile& file);

// What VMs may choose to count: `selections` of a chip file (virtual-counters.md).
// Checks each selection by itself; PlanUnits checks them against the units.
absl::Status ReadSelections(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_
