// SPDX-License-Identifier: Apache-2.0
//
// The rotation of a replay, from its file: what a chip file says of a chip.
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadReplayRotation("R.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, wires, slices, file.counters));
//   SIDEBAND_RETURN_IF_ERROR(AddRotation(file, /*seed=*/7, names, config));
#ifndef SIDEBAND_SECURE_MCU_REPLAY_ROTATION_SETUP_H_
#define SIDEBAND_SECURE_MCU_REPLAY_ROTATION_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/rotation_file/rotation_file.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// INVALID_ARGUMENT "FILE:LINE: …" also for a file without `counters`.
absl::StatusOr<RotationFile> LoadReplayRotation(const std::string& path);

// Whether the configuration has a unit whose events take turns.
bool HasTurns(const PipelineConfig& config);

// Of a configuration that has such a unit: adds the relations and the rotation, whose seed is `seed`, else the file's,
// else 0, and makes the periods of these units as short as the slots need. Fixed events of units with a counter for
// each of theirs are fixed anyway. INVALID_ARGUMENT "FILE:LINE: …" for unknown events, and as RelationRules::Check,
// CheckRotation and PlanCounters.
absl::Status AddRotation(const RotationFile& file, std::optional<uint64_t> seed, const std::vector<std::string>& names,
                         PipelineConfig& config);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_ROTATION_SETUP_H_
