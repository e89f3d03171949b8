// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/relation_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;

std::vector<uint16_t> EventsOf(const Relation& relation) {
  std::vector<uint16_t> events = relation.members;
  if (relation.kind != Relation::Kind::kCycles) events.push_back(relation.whole);
  return events;
}

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

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
  if (config.relations.size() > mailbox::kRelationsMax) {
    return absl::InvalidArgumentError(absl::StrCat("number of relations is ", config.relations.size(),
                                                   ", must be from 0 to ", mailbox::kRelationsMax));
  }
  const RelationRules rules(config);
  for (size_t i = 0; i < config.relations.size(); ++i) {
    const absl::Status status = rules.Check(config.relations[i]);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("relation ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
