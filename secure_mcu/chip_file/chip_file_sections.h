// SPDX-License-Identifier: Apache-2.0
//
// The sections of a chip file that chip_file.cc reads into one ChipFile.
//   SIDEBAND_RETURN_IF_ERROR(ReadSelections(root, file));    // needs file.units and file.extension
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
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

// The rules for what base commands tell of confidential VMs: the key `complement` of a chip file.
// A class that the file does not name keeps its default.
absl::Status ReadComplement(const YamlMap& root, ChipFile& file);

// The pipeline of a chip file: `device.clock_hz`, `slices` and `pipeline`.
// Fills file.pipeline (except units and events), file.ulc and file.threshold, within the ranges of pipeline_config.h.
// Rejects periods that are too short for emulation in real time (CyclesBetweenMin).
absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file);

// The `program` key of a chip file: what the RISC-V machines of the slices run. Their parts become the chip's units,
// and their events its events: wire "core0.l1d_readmiss" (sim/riscv/shape.h) is event core0_l1d_readmiss.
// A mapping is the program of every slice, each on a machine of its own; a list has one for each slice. Appends their
// units to file.units, in the order of the machine's wires. The words are not read yet.
absl::Status ReadPrograms(const YamlMap& root, ChipFile& file);

// How events are multiplexed: `relations` and `rotation` of a chip file (counter-rotation.md).
// Checks each value by itself; PlanUnits checks them against the units.
absl::Status ReadRotationKeys(const YamlMap& root, ChipFile& file);

// Whether the device seals its confidential VMs: the key `sealing` of a chip file.
// After VMs and rotation were read: with `sealing`, each confidential VM has to be private, so that the device's own
// block lacks its counts, and nothing may rotate, since records have no estimates. A relative path is of the chip
// file's folder. The sealing file itself is read when the device is switched on.
absl::Status ReadSealing(const YamlMap& root, ChipFile& file);

// The choices of events that VMs have: `selections` of a chip file (virtual-counters.md).
// Checks each selection by itself; PlanUnits checks them against the units.
absl::Status ReadSelections(const YamlMap& root, ChipFile& file);

// The counted units of a chip file: `units`, `shared_units`, `device_units` and `ccus`.
// Needs file.pipeline.slices and file.ulc. Checks each value by itself; unit_plan.h checks their combination.
absl::Status ReadAllUnits(const YamlMap& root, ChipFile& file);

// `counter_bits`, `period` and `lanes` of one unit or of the pipeline. On entry `ulc` holds the values of absent keys;
// a period is shortened to the longest that the counters can hold.
absl::Status ReadUlcShape(const YamlMap& map, UlcSpec& ulc);

// The key `private_vms`.
absl::Status ReadPrivateVms(const YamlMap& root, ChipFile& file);

// A VM's control block, from the key `counting` of its mapping (virtual-counters.md); the initial one if it is absent.
absl::StatusOr<VmControl> ReadCounting(const YamlMap& vm, bool confidential, const ChipFile& file);

inline constexpr uint64_t kIdentifierMax = 65'535;  // of a gate

// The events of the slices' units, with repetitions.
std::vector<std::string> EventsOfSlices(const ChipFile& file);

// Who is counted: `gate_groups` and `host` of a chip file (virtual-counters.md). Needs file.units.
absl::Status ReadGates(const YamlMap& root, ChipFile& file);

// The longest time of what tenants do, and of what is done with them.
inline constexpr absl::Duration kTimeMax = absl::Hours(24);

// The tenants of a chip file and their workloads: `vms`. Needs file.pipeline.slices and file.waveform.
absl::Status ReadVms(const YamlMap& root, ChipFile& file);

// Reads the keys `seed` and `phases` of a mapping, which may have other keys.
absl::StatusOr<WorkloadFileSpec> ReadWorkload(const YamlMap& map);

// 16 TiB.
inline constexpr uint64_t kMemoryMibMax = uint64_t{1} << 24;

// The memory of the device: the key `memory` of a chip file. Needs file.vms.
// Rejects contexts with memory if `memory` is absent, and a total below the sum of the reserve and the contexts.
absl::Status ReadMemory(const YamlMap& root, ChipFile& file);

// The clock domains of a chip file, and its scheduler and trigger line: `domains`, `scheduler` and
// `trigger_line` (clocks.md).
absl::Status ReadDomains(const YamlMap& root, ChipFile& file);
// The domain that the node names, as UlcSpec::domain.
absl::StatusOr<uint32_t> FindDomain(const YamlNode& node, const ChipFile& file);
// Reads the scheduler, and finds the domains whose clock is one for several slices or the device.
absl::Status FinishDomains(const YamlMap& root, ChipFile& file);
absl::Status ReadTriggerLine(const YamlMap& root, ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_
