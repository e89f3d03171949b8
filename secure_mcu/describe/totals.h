// SPDX-License-Identifier: Apache-2.0
//
// The storage and the traffic of a pipeline, and of a flat design in its place.
//   const Registers registers = CountRegisters(config);
//   const Traffic traffic = CountTraffic(config, switches_per_second);
// README.md has the formulas. A configuration must be valid (Validate, pipeline_config.h).
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_TOTALS_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_TOTALS_H_

#include <cstddef>
#include <span>

#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// One per slice, the hypervisor's, and the out-of-band channel if its period is not 0.
size_t ReductionChannels(const PipelineConfig& config);
// Of a unit-level counter: its counters, and those of them that have an accumulator.
size_t UlcCounters(const UlcSpec& ulc);
size_t UlcPrescaled(const UlcSpec& ulc);

Registers CountRegisters(const PipelineConfig& config);
GateRegisters CountGates(const PipelineConfig& config);
SelectRegisters CountSelects(const PipelineConfig& config);
uint64_t RecordBits(const PipelineConfig& config);
// `switches` has the context switches per second of each slice.
Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches);
FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_TOTALS_H_
