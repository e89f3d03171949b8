// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline stores and moves, and what a flat design in its place would.
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

// Counters of each bank: one for each (event, digit) that is not masked.
size_t CcuCounters(const CcuSpec& ccu);
// The slices', the hypervisor's, and the out-of-band one if there is one.
size_t ReductionChannels(const PipelineConfig& config);

Registers CountRegisters(const PipelineConfig& config);
// `switches` has for each slice how often a context is switched out there in a second.
Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches);
FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_TOTALS_H_
