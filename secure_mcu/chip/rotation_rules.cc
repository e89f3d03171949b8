// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_rules.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/counter_needs.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kThresholdMax = 1000;

// An interval ends with a slot, and is one itself in a first run.
absl::Status CheckTimes(const mailbox::RotationSettings& settings, uint64_t low) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("stable slot (cycles)", settings.stable_slot, low, kSlotCyclesMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("fluctuating slot (cycles)", settings.fluctuating_slot, low, kSlotCyclesMax));
  return CheckRange("interval (cycles)", settings.interval, low, kSlotCyclesMax);
}

// Of a unit that is not switched, unmasked.
mailbox::EventSet EventsOfOthers(const PipelineConfig& config) {
  mailbox::EventSet events = mailbox::EmptySet(config.events);
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        if (!ulc.is_switched() && !input.masked) mailbox::Insert(input.meaning.event, events);
      }
    }
  }
  return events;
}

absl::Status CheckNotMixed(const PipelineConfig& config, const CounterNeeds& needs, const EventNamer& name) {
  const mailbox::EventSet others = EventsOfOthers(config);
  for (size_t event = 0; event < config.events; ++event) {
    if (!needs.Has(event) || !mailbox::Includes(others, event)) continue;
    return absl::InvalidArgumentError(absl::StrCat("event ", name(event), " is counted by unit ",
                                                   needs.kinds()[needs.Of(event).begin()->first].name,
                                                   ", whose events take turns, and by one with a counter for each"));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t ShortestSlot(const PipelineConfig& config) {
  uint64_t period = 0;
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      if (ulc.is_switched()) period = std::max<uint64_t>(period, ulc.period);
    }
  }
  return std::max<uint64_t>(1, kSlotPeriodsMin * period);
}

absl::Status CheckRequestedSettings(const mailbox::RotationSettings& settings, const PipelineConfig& config) {
  const mailbox::RotationSettings& own = config.rotation->settings;
  const uint64_t half = std::min({own.stable_slot, own.fluctuating_slot, own.interval}) / 2;
  SIDEBAND_RETURN_IF_ERROR(CheckSettings(settings, config));
  return CheckTimes(settings, config.rotation->slots_min.value_or(half));
}

absl::Status CheckSettings(const mailbox::RotationSettings& settings, const PipelineConfig& config) {
  const uint64_t dead = config.rotation ? config.rotation->dead_cycles : 0;
  SIDEBAND_RETURN_IF_ERROR(CheckTimes(settings, std::max(ShortestSlot(config), dead + 1)));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("step", settings.step, 1, mailbox::kRotationStepMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("threshold per mille", settings.threshold_per_mille, 0, kThresholdMax));
  for (const auto& [event, weight] : settings.weights) {
    SIDEBAND_RETURN_IF_ERROR(CheckRange("event with a weight", event, 0, config.events - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckFixed(const PipelineConfig& config, const EventNamer& name) {
  const CounterNeeds needs(config);
  const mailbox::EventSet& fixed = config.rotation->fixed;
  for (size_t event = 0; event < fixed.size() * mailbox::kEventSetWord; ++event) {
    if (!mailbox::Includes(fixed, event) || needs.Has(event)) continue;
    if (event >= config.events) return absl::InvalidArgumentError(absl::StrCat("no event ", event, " to be fixed"));
    return absl::InvalidArgumentError(
        absl::StrCat("event ", name(event), " cannot be fixed: no unit with more events than counters has it"));
  }
  for (const auto& [kind, counters] : needs.Of(fixed)) {
    const SwitchedKind& unit = needs.kinds()[kind];
    if (counters < unit.counters) continue;
    return absl::InvalidArgumentError(absl::StrCat("the fixed events of unit ", unit.name, " need ", counters,
                                                   " counters, it has ", unit.counters, ": one at least must be left"));
  }
  return absl::OkStatus();
}

// Periods are told by what every slot counts.
absl::Status CheckInstructions(const PipelineConfig& config, const CounterNeeds& needs, const EventNamer& name) {
  const auto& event = config.rotation->instructions;
  if (!event) return absl::OkStatus();
  if (*event >= config.events) return absl::InvalidArgumentError(absl::StrCat("no event ", *event, " of instructions"));
  if (!needs.Has(*event) || mailbox::Includes(config.rotation->fixed, *event)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("event ", name(*event), " cannot be that of instructions: it takes turns, and is not fixed"));
}

absl::Status CheckRotation(const PipelineConfig& config, const EventNamer& name) {
  if (!config.rotation) return absl::OkStatus();
  if (!config.selections.empty()) {
    return absl::InvalidArgumentError("a chip has selections or a rotation, not both");
  }
  const CounterNeeds needs(config);
  SIDEBAND_RETURN_IF_ERROR(CheckNotMixed(config, needs, name));
  SIDEBAND_RETURN_IF_ERROR(CheckFixed(config, name));
  SIDEBAND_RETURN_IF_ERROR(CheckInstructions(config, needs, name));
  return CheckSettings(config.rotation->settings, config);
}

}  // namespace sideband::mcu
