// SPDX-License-Identifier: Apache-2.0
//
// A counter rotation as a file says it: rotation.yaml, and the key `rotation` of a chip file (rotation_file.md). Events
// are named by the file, and numbered among those that a device has.
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadRotationFile("rotation.yaml", RotationUse::kReplay));
//   const EventNumbers numbers(names, file.path);
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationSettings settings, SettingsOf(file, numbers, clock_hz));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::EventSet set, numbers.SetOf(file.fixed));   // or "r.yaml:3: no event 'a'"
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Relation relation, RelationOf(file.relations[0], numbers));
// The terms are its settings in times of any clock: what is not given has the profile's default. A message of gRPC has
// the same ranges and defaults.
//   RotationTerms terms = DefaultTerms(mailbox::RotationProfile::kTwoSet);
//   terms.threshold_per_mille = PerMille(threshold);          // from 0 to kThresholdMax
//   const mailbox::RotationSettings of_terms = SettingsOf(terms, clock_hz);
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_FILE_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"

namespace sideband {

// Ranges, and their words in "must be …".
inline constexpr absl::Duration kTurnTimeMin = absl::Nanoseconds(1), kTurnTimeMax = absl::Hours(24);
inline constexpr char kTurnTimeRange[] = "a time from 1ns to 24h, such as 200us";
inline constexpr double kThresholdMax = 1;
inline constexpr char kThresholdRange[] = "a number from 0 to 1, such as 0.05";
inline constexpr uint64_t kStepMax = mailbox::kRotationStepMax;
inline constexpr char kStepRange[] = "a whole number from 1 to 1000";
inline constexpr double kWeightMax = 1'000;
inline constexpr char kWeightRange[] = "a number from 0 to 1000";
inline constexpr uint64_t kSetsPerPassMax = mailbox::kRotationSetsMax;
inline constexpr char kSetsPerPassRange[] = "a whole number from 1 to 64";

struct RotationTerms {
  mailbox::RotationProfile profile = mailbox::RotationProfile::kFast;
  absl::Duration stable_slot, fluctuating_slot, interval;  // whole nanoseconds
  uint32_t threshold_per_mille = 50;
  uint32_t step = 4;
  uint32_t sets_per_pass = 0;  // 0: all
  bool adapt = true;           // never with kTwoSet
  bool operator==(const RotationTerms&) const = default;
};

// The terms of a profile of which nothing else is given. kTwoSet has the times of the reference text.
RotationTerms DefaultTerms(mailbox::RotationProfile profile);

// Converts a number from 0 to 1000, rounded to the nearest.
uint32_t PerMille(double number);

// A time in cycles of a clock, rounded to the nearest, at least 1.
uint64_t CyclesOf(absl::Duration time, uint64_t clock_hz);

// Times in cycles of a clock. Without weights.
mailbox::RotationSettings SettingsOf(const RotationTerms& terms, uint64_t clock_hz);

struct NamedEvent {
  std::string name;
  size_t line = 0;
  bool operator==(const NamedEvent&) const = default;
};

// A list of names, each once.
absl::StatusOr<std::vector<NamedEvent>> ReadEventNames(const YamlNode& list);

// Immutable, and so thread-safe.
class EventNumbers {
 public:
  // Event i has the name names[i]. `path` is the file of the names that are looked up.
  EventNumbers(std::vector<std::string> names, std::string path);

  const std::string& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }
  // Errors are "FILE:LINE: no event …".
  absl::StatusOr<uint16_t> Of(const NamedEvent& event) const;
  // Ascending.
  absl::StatusOr<std::vector<uint16_t>> Of(const std::vector<NamedEvent>& events) const;
  // Without words if there are no events.
  absl::StatusOr<mailbox::EventSet> SetOf(const std::vector<NamedEvent>& events) const;

 private:
  std::vector<std::string> names_;
  std::string path_;
  std::map<std::string, uint16_t> numbers_;
};

struct NamedRelation {
  mailbox::Relation::Kind kind = mailbox::Relation::Kind::kCycles;
  std::vector<NamedEvent> members;
  NamedEvent whole;  // not of kCycles
  uint32_t times = 1;
  size_t line = 0;
  bool operator==(const NamedRelation&) const = default;
};

// Each of {sum: […], of: resident_cycles, times: n}, {event: x, is_sum_of: […]} and {event: a, at_most: b}.
absl::StatusOr<std::vector<NamedRelation>> ReadRelations(const YamlNode& list);

// Errors are "FILE:LINE: no event …". Whether the events fit together is the device's to check.
absl::StatusOr<mailbox::Relation> RelationOf(const NamedRelation& relation, const EventNumbers& numbers);

// The reader's purpose decides which keys the file may have beside those of the settings.
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
  size_t line = 0;  // the mapping's

  RotationTerms terms;
  std::vector<EventWeight> weights;

  std::vector<NamedEvent> events;  // to be multiplexed; none: all that can be
  std::vector<NamedEvent> always;  // a part of `events`: in every set

  std::optional<NamedEvent> instructions;  // its rate tells even from uneven periods
  uint32_t dead_cycles = 0;
  std::optional<uint64_t> seed;             // none: drawn by the device
  std::optional<absl::Duration> slots_min;  // the least of requested plans; none: half of the chip's own shortest

  std::optional<uint32_t> counters;  // the whole slice's, of one bit each
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

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_FILE_H_
