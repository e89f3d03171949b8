// SPDX-License-Identifier: Apache-2.0
//
// The counter sets of a chip's rotation, by the names of its events.
//   SIDEBAND_ASSIGN_OR_RETURN(description.rotation, DescribeRotation(config, names));
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_ROTATION_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_ROTATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// Of a valid configuration whose event i has the name names[i]. Without sets if it has no rotation. Errors are those of
// PlanCounters.
absl::StatusOr<RotationDescription> DescribeRotation(const PipelineConfig& config,
                                                     const std::vector<std::string>& names);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_ROTATION_H_
