// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/rotation_setup.h"

#include <algorithm>
#include <bit>

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

// Lets units send a frame of all their counters in a period that is short enough for the shortest slot.
void ShortenPeriods(const mailbox::RotationSettings& settings, PipelineConfig& config) {
  const uint64_t slot = std::min(settings.stable_slot, settings.fluctuating_slot);
  const auto period = static_cast<uint32_t>(std::clamp<uint64_t>(slot / kSlotPeriodsMin, 1, kUlcPeriodMax));
  for (CcuSpec& ccu : config.ccus) {
    for (UlcSpec& ulc : ccu.ulcs) {
      if (!ulc.is_switched()) continue;
      ulc.period = period;
      ulc.counter_bits = std::bit_width(period);
      ulc.lanes = (UnitLevelCounter::FrameBits(CounterConfig(ulc)) + period - 1) / period;
    }
  }
}

absl::Status AddRelations(const RotationFile& file, const EventNumbers& numbers, const EventNamer& name,
                          PipelineConfig& config) {
  const RelationRules rules(config);
  for (const NamedRelation& named : file.relations) {
    SIDEBAND_ASSIGN_OR_RETURN(mailbox::Relation relation, RelationOf(named, numbers));
    SIDEBAND_RETURN_IF_ERROR(AtLine(rules.Check(relation, name), file.path, named.line));
    config.relations.push_back(std::move(relation));
  }
  return absl::OkStatus();
}

// Without those that have a counter anyway.
absl::StatusOr<mailbox::EventSet> FixedOf(const RotationFile& file, const EventNumbers& numbers,
                                          const PipelineConfig& config) {
  const CounterNeeds needs(config);
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint16_t> events, numbers.Of(file.fixed));
  mailbox::EventSet fixed = mailbox::EmptySet(config.events);
  for (const uint16_t event : events) {
    if (needs.Has(event)) mailbox::Insert(event, fixed);
  }
  return fixed;
}

}  // namespace

absl::StatusOr<RotationFile> LoadReplayRotation(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(RotationFile file, LoadRotationFile(path, RotationUse::kReplay));
  if (file.counters) return file;
  return LineError(path, file.line, "'counters' is missing: how many, of one bit each, a slice has for its events");
}

bool HasTurns(const PipelineConfig& config) {
  return std::ranges::any_of(config.ccus,
                             [](const CcuSpec& ccu) { return std::ranges::any_of(ccu.ulcs, &UlcSpec::is_switched); });
}

absl::Status AddRotation(const RotationFile& file, std::optional<uint64_t> seed, const std::vector<std::string>& names,
                         PipelineConfig& config) {
  const EventNumbers numbers(names, file.path);
  const EventNamer name = [&names](size_t event) { return absl::StrCat("'", names[event], "'"); };
  SIDEBAND_RETURN_IF_ERROR(AddRelations(file, numbers, name, config));
  RotationSpec& spec = config.rotation.emplace();
  SIDEBAND_ASSIGN_OR_RETURN(spec.settings, SettingsOf(file, numbers, config.clock_hz));
  SIDEBAND_ASSIGN_OR_RETURN(spec.fixed, FixedOf(file, numbers, config));
  if (file.instructions) {
    SIDEBAND_ASSIGN_OR_RETURN(spec.instructions, numbers.Of(*file.instructions));
  }
  spec.dead_cycles = file.dead_cycles;
  spec.seed = seed.value_or(file.seed.value_or(0));
  ShortenPeriods(spec.settings, config);
  SIDEBAND_RETURN_IF_ERROR(AtLine(CheckRotation(config, name), file.path, file.line));
  const bool fill = spec.settings.profile == mailbox::RotationProfile::kFast;
  return AtLine(PlanCounters(config, {.events = {}, .always = {}, .fill = fill}, name).status(), file.path, file.line);
}

}  // namespace sideband::mcu
