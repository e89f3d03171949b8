// SPDX-License-Identifier: Apache-2.0
//
// A counter rotation as a file says it: rotation.yaml, and the key `rotation` of a chip file (README.md).
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadRotationFile("rotation.yaml", RotationUse::kRequest));
//   const EventNumbers numbers(names, file.path);
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationSettings settings, SettingsOf(file, numbers, clock_hz));
#ifndef SIDEBAND_PROTO_ROTATION_FILE_ROTATION_FILE_H_
#define SIDEBAND_PROTO_ROTATION_FILE_ROTATION_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/rotation.h"
#include "proto/rotation_file/event_names.h"
#include "proto/rotation_file/relation_file.h"
#include "proto/rotation_file/rotation_terms.h"

namespace sideband {

// Who reads the file decides which keys it may have beside those of the settings.
enum class RotationUse {
  kRequest,  // a device is asked for a plan: `events` and `always`
  kChip,     // what a chip boots with: `instructions`, `dead_cycles`, `seed` and `slots_min`
  kReplay,  // a waveform, which has no chip file: those of a chip but the last, and `counters`, `fixed` and `relations`
};

struct EventWeight {
  NamedEvent event;
  uint32_t per_mille = 1000;
  bool operator==(const EventWeight&) const = default;
};

struct RotationFile {
  std::string path;
  size_t line = 0;  // of the mapping

  RotationTerms terms;
  std::vector<EventWeight> weights;

  std::vector<NamedEvent> events;  // that take turns; none: all that can
  std::vector<NamedEvent> always;  // of these, in every set

  std::optional<NamedEvent> instructions;  // whose rate tells even from uneven periods
  uint32_t dead_cycles = 0;
  std::optional<uint64_t> seed;             // none: drawn by the device
  std::optional<absl::Duration> slots_min;  // of plans that a device is asked for; none: half of its own shortest

  std::optional<uint32_t> counters;  // of one bit each, of the whole slice
  std::vector<NamedEvent> fixed;
  std::vector<NamedRelation> relations;

  bool operator==(const RotationFile&) const = default;
};

// Every error is one line "FILE:LINE: description".
absl::StatusOr<RotationFile> LoadRotationFile(const std::string& path, RotationUse use);
// The same of a mapping within a file, whose path is for messages only.
absl::StatusOr<RotationFile> ReadRotation(const YamlNode& node, const std::string& path, RotationUse use);

// The terms with the weights. INVALID_ARGUMENT "FILE:LINE: …" for a weight of an unknown event.
absl::StatusOr<mailbox::RotationSettings> SettingsOf(const RotationFile& file, const EventNumbers& numbers,
                                                     uint64_t clock_hz);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_ROTATION_FILE_ROTATION_FILE_H_
