// SPDX-License-Identifier: Apache-2.0
//
// The sections of a chip file that chip_file.cc reads into one ChipFile, and the values that they read. The error of a
// value names it, its range and its line: "chip.yaml:4: slices is 65, must be a whole number from 1 to 64".
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slices, UintField(root, "slices", 1, {1, 64}));
//   SIDEBAND_RETURN_IF_ERROR(ReadSelections(root, file));    // needs file.units and file.extension
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_SECTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

template <typename T>
struct FieldRange {
  T low, high;  // both inclusive
};

// The value of an existing node. Errors name it `what`.
absl::StatusOr<uint64_t> UintValue(const YamlNode& node, absl::string_view what, FieldRange<uint64_t> range);
absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::string_view what,
                                             FieldRange<absl::Duration> range);

// The value of a key, or `otherwise` if the key is absent.
absl::StatusOr<uint64_t> UintField(const YamlMap& map, const std::string& key, uint64_t otherwise,
                                   FieldRange<uint64_t> range);
// Stores the value in `value`, which keeps its content if the key is absent.
absl::Status Uint32Field(const YamlMap& map, const std::string& key, FieldRange<uint64_t> range, uint32_t& value);
absl::StatusOr<double> NumberField(const YamlMap& map, const std::string& key, double otherwise,
                                   FieldRange<double> range);
absl::StatusOr<absl::Duration> DurationField(const YamlMap& map, const std::string& key, absl::Duration otherwise,
                                             FieldRange<absl::Duration> range);
absl::StatusOr<bool> BoolField(const YamlMap& map, const std::string& key, bool otherwise);

// The required key `uuid`.
absl::StatusOr<Uuid> ReadUuid(const YamlMap& map);
// A required key: 1 to 64 letters, digits, '_', '-' and '.', the characters that are valid both in a label and in a
// path.
absl::StatusOr<std::string> ReadName(const YamlMap& map, const std::string& key = "name");
// 1 to `size_max` printable ASCII characters, or `otherwise` if the key is absent.
absl::StatusOr<std::string> PrintableField(const YamlMap& map, const std::string& key, const std::string& otherwise,
                                           size_t size_max);

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
