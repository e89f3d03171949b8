// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_turns.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/rotation_file/event_names.h"
#include "secure_mcu/chip/counter_needs.h"
#include "secure_mcu/chip/relation_rules.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_rules.h"

namespace sideband::mcu {
namespace {

// Of a chip file with units.
class TurnPlanner {
 public:
  TurnPlanner(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus)
      : file_(file),
        numbers_(events.names(), file.path),
        name_([&events](size_t event) { return absl::StrCat("'", events.events()[event].name, "'"); }),
        config_(file.pipeline) {
    config_.events = static_cast<uint32_t>(events.events().size());
    config_.ccus = ccus;
    config_.relations.clear();
    config_.rotation.reset();
  }

  absl::StatusOr<EventTurns> Run() {
    SIDEBAND_RETURN_IF_ERROR(AddRelations());
    if (file_.rotation) SIDEBAND_RETURN_IF_ERROR(AddRotation());
    return EventTurns{std::move(config_.relations), std::move(config_.rotation)};
  }

 private:
  absl::Status AddRelations() {
    const RelationRules rules(config_);
    for (const NamedRelation& named : file_.relations) {
      SIDEBAND_ASSIGN_OR_RETURN(mailbox::Relation relation, RelationOf(named, numbers_));
      SIDEBAND_RETURN_IF_ERROR(AtLine(rules.Check(relation, name_), file_.path, named.line));
      config_.relations.push_back(std::move(relation));
    }
    return absl::OkStatus();
  }

  absl::Status AddRotation() {
    const RotationFile& rotation = *file_.rotation;
    if (CounterNeeds(config_).kinds().empty()) {
      return LineError(file_.path, file_.rotation_line, "a rotation needs a unit with more events than counters");
    }
    const EventNumbers numbers(numbers_.names(), rotation.path);
    RotationSpec& spec = config_.rotation.emplace();
    SIDEBAND_ASSIGN_OR_RETURN(spec.settings, SettingsOf(rotation, numbers, config_.clock_hz));
    SIDEBAND_RETURN_IF_ERROR(AddFixed(spec));
    if (rotation.instructions) {
      SIDEBAND_ASSIGN_OR_RETURN(spec.instructions, numbers.Of(*rotation.instructions));
    }
    spec.dead_cycles = rotation.dead_cycles;
    if (rotation.slots_min) spec.slots_min = CyclesOf(*rotation.slots_min, config_.clock_hz);
    spec.seed = rotation.seed;
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckSettings(spec.settings, config_), rotation.path, rotation.line));
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckRotation(config_, name_), file_.path, file_.rotation_line));
    const bool fill = spec.settings.profile == mailbox::RotationProfile::kFast;
    return AtLine(PlanCounters(config_, {.fill = fill}, name_).status(), file_.path, file_.rotation_line);
  }

  // Unit by unit, so that an error is at the line of the unit whose events are too many.
  absl::Status AddFixed(RotationSpec& spec) const {
    std::vector<NamedEvent> fixed;
    for (const auto* units : {&file_.units, &file_.shared_units, &file_.device_units}) {
      for (const UnitFileSpec& unit : *units) {
        if (unit.fixed.empty()) continue;
        fixed.insert(fixed.end(), unit.fixed.begin(), unit.fixed.end());
        SIDEBAND_ASSIGN_OR_RETURN(spec.fixed, numbers_.SetOf(fixed));
        SIDEBAND_RETURN_IF_ERROR(AtLine(CheckFixed(config_, name_), file_.path, unit.fixed[0].line));
      }
    }
    return absl::OkStatus();
  }

  const ChipFile& file_;
  const EventNumbers numbers_;
  const EventNamer name_;
  PipelineConfig config_;
};

}  // namespace

absl::StatusOr<EventTurns> PlanTurns(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus) {
  if (file.relations.empty() && !file.rotation) return EventTurns();
  return TurnPlanner(file, events, ccus).Run();
}

}  // namespace sideband::mcu
