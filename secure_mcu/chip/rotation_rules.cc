// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_rules.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/selections.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;

std::vector<uint16_t> EventsOf(const Relation& relation) {
  std::vector<uint16_t> events = relation.members;
  if (relation.kind != Relation::Kind::kCycles) events.push_back(relation.whole);
  return events;
}

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

constexpr uint32_t kThresholdMax = 1000;

// An interval ends with a slot, and is one itself in a first run.
absl::Status CheckTimes(const mailbox::RotationSettings& settings, uint64_t low) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("stable slot (cycles)", settings.stable_slot, low, kSlotCyclesMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("fluctuating slot (cycles)", settings.fluctuating_slot, low, kSlotCyclesMax));
  return CheckRange("interval (cycles)", settings.interval, low, kSlotCyclesMax);
}

// The unmasked events of units that are not switched.
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

RelationRules::RelationRules(const PipelineConfig& config) : slices_(config.slices), uses_(config.events) {
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        Use& use = uses_[input.meaning.event];
        use.domains.insert(ulc.domain);
        use.groups.insert(input.group);
        use.channels.insert(ccu.channel);
        use.is_masked |= input.masked;
        use.is_prescaled |= input.digits > 0;
      }
    }
  }
}

absl::Status RelationRules::Check(const Relation& relation, const EventNamer& name) const {
  SIDEBAND_RETURN_IF_ERROR(CheckForm(relation, name));
  for (const uint16_t event : EventsOf(relation)) {
    SIDEBAND_RETURN_IF_ERROR(CheckEvent(event, name));
    SIDEBAND_RETURN_IF_ERROR(CheckAlike(relation.members.front(), event, name));
  }
  return relation.kind == Relation::Kind::kCycles ? CheckCycles(relation.members.front(), name) : absl::OkStatus();
}

absl::Status RelationRules::CheckForm(const Relation& relation, const EventNamer& name) const {
  if (relation.members.empty()) return Wrong("it has no events");
  for (const uint16_t event : EventsOf(relation)) {
    if (event >= uses_.size()) return Wrong(absl::StrCat("event ", event, " is not of this chip"));
  }
  const auto repeated = std::ranges::adjacent_find(relation.members, std::ranges::greater_equal());
  if (repeated != relation.members.end()) {
    return Wrong(*repeated == *std::next(repeated) ? absl::StrCat("event ", name(*repeated), " is named twice")
                                                   : "its events are not in ascending order");
  }
  if (relation.kind == Relation::Kind::kCycles) {
    return relation.times > 0 ? absl::OkStatus() : Wrong("times is 0, must be at least 1");
  }
  if (std::ranges::binary_search(relation.members, relation.whole)) {
    return Wrong(absl::StrCat("event ", name(relation.whole), " is named twice"));
  }
  if (relation.kind == Relation::Kind::kAtMost && relation.members.size() > 1) {
    return Wrong("an event is at most one other, not several");
  }
  return absl::OkStatus();
}

absl::Status RelationRules::CheckEvent(uint16_t event, const EventNamer& name) const {
  const Use& use = uses_[event];
  const auto because = [&](absl::string_view why) { return Wrong(absl::StrCat("event ", name(event), " ", why)); };
  if (use.channels.empty()) return because("is counted by no unit");
  if (use.is_masked) return because("is masked");
  if (use.is_prescaled) return because("is counted prescaled: the remainders that are dropped break relations");
  if (use.domains.size() > 1) return because("is counted in several clock domains");
  if (use.groups.size() > 1) return because("is counted in several gate groups");
  if (use.channels.contains(kDeviceChannel) && use.channels.size() > 1) {
    return because("is counted both on slices and for the device");
  }
  return absl::OkStatus();
}

absl::Status RelationRules::CheckAlike(uint16_t first, uint16_t second, const EventNamer& name) const {
  const Use &one = uses_[first], &other = uses_[second];
  const auto differ = [&](absl::string_view what) {
    return Wrong(absl::StrCat("events ", name(first), " and ", name(second), " are of different ", what));
  };
  if (one.domains != other.domains) return differ("clock domains");
  if (one.channels.contains(kDeviceChannel) != other.channels.contains(kDeviceChannel)) return differ("scopes");
  if (one.groups != other.groups) return differ("gate groups");
  if (one.channels != other.channels) return differ("slices");
  return absl::OkStatus();
}

absl::Status RelationRules::CheckCycles(uint16_t event, const EventNamer& name) const {
  const Use& use = uses_[event];
  if (*use.groups.begin() && *use.domains.begin() != 0) {
    return Wrong(absl::StrCat("event ", name(event),
                              " is gated, and of a clock of its own, whose cycles with the gate "
                              "open are not counted"));
  }
  const std::set<uint8_t>& channels = uses_[event].channels;
  if (channels.contains(kDeviceChannel) || channels.size() == slices_) return absl::OkStatus();
  return Wrong(absl::StrCat("event ", name(event), " is not counted on every slice, whose cycles all count"));
}

absl::Status CheckRelations(const PipelineConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of relations", config.relations.size(), 0, mailbox::kRelationsMax));
  const RelationRules rules(config);
  for (size_t i = 0; i < config.relations.size(); ++i) {
    const absl::Status status = rules.Check(config.relations[i]);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("relation ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

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
