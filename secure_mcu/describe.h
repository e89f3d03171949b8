// SPDX-License-Identifier: Apache-2.0
//
// The units of a chip file's device, their cost in flip-flops and in transferred bits, and the cost of a flat design
// instead.
//   SIDEBAND_ASSIGN_OR_RETURN(const ChipFile file, LoadChipFile("chip.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(const Description description, Describe(file));
//   std::fputs(FormatTree(description).c_str(), stdout);
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/description.h"

namespace sideband::mcu {

// The storage of the register read path (docs/design/registers.md) as the RTL in tests/lab/rtl has it: hpc_read_path.sv
// with a client for each slice and for the firmware, and for each 64 events a manager of the context and of the VM of
// each slice, and of the device. tests/lab/rtl/synthesis_test.py compares these numbers with a synthesis of that RTL.
// At least one slice; 0 without events.
ReadPathRegisters CountReadPath(uint64_t slices, uint64_t events);

// The counter sets of a chip's rotation, by the names of its events: of a valid configuration whose event i has the
// name names[i]. Without sets if it has no rotation. Errors are those of PlanCounters.
absl::StatusOr<RotationDescription> DescribeRotation(const PipelineConfig& config,
                                                     const std::vector<std::string>& names);

// The channels of a pipeline: one per slice, the hypervisor's, and the out-of-band channel if its period is not 0.
size_t ReductionChannels(const PipelineConfig& config);
// A unit-level counter's counters, and those of them that have an accumulator.
size_t UlcCounters(const UlcSpec& ulc);
size_t UlcPrescaled(const UlcSpec& ulc);

// The storage and the traffic of a pipeline, and of a flat design in its place. describe.md has the formulas. A
// configuration must be valid (Validate, pipeline_config.h).
Registers CountRegisters(const PipelineConfig& config);
GateRegisters CountGates(const PipelineConfig& config);
SelectRegisters CountSelects(const PipelineConfig& config);
uint64_t RecordBits(const PipelineConfig& config);
// `switches` has the context switches per second of each slice.
Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches);
FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches);

// Errors are those of the chip file's parts, and of the waveform's files, which are read for their wires.
absl::StatusOr<Description> Describe(const ChipFile& file);

// Formats a description as a tree for terminals and as JSON for programs; both contain the same numbers.

// The bus clocks for which the time of a snapshot read is shown.
inline constexpr uint64_t kBusClocksHz[] = {100'000, 400'000};

// Lines in UTF-8, each ending in a line break.
std::string FormatTree(const Description& description);
// One object and a line break.
std::string FormatJson(const Description& description);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_H_
