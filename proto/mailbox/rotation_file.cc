// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband {
namespace {

using mailbox::RotationProfile;

// A device may report any clock.
constexpr double kCyclesMax = 0x1p62;

using Kind = mailbox::Relation::Kind;

absl::StatusOr<NamedEvent> ReadEvent(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  return NamedEvent{std::move(name), node.line()};
}

absl::Status ReadMembers(const YamlMap& map, const std::string& key, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(relation.members, ReadEventNames(list));
  return relation.members.empty() ? list.Error(absl::StrCat("'", key, "' has no event")) : absl::OkStatus();
}

absl::Status ReadCycles(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"sum", "of", "times"}));
  SIDEBAND_RETURN_IF_ERROR(ReadMembers(map, "sum", relation));
  SIDEBAND_ASSIGN_OR_RETURN(const NamedEvent of, ReadEvent(map, "of"));
  if (of.name != mailbox::kResidentCyclesEvent) {
    return map.Get("of")->Error(absl::StrCat("'of' is ", of.name, ", must be ", mailbox::kResidentCyclesEvent,
                                             "; the sum that is an event is {event: ", of.name, ", is_sum_of: […]}"));
  }
  const auto times = map.UintOr("times", 1, 1, std::numeric_limits<uint32_t>::max());
  if (!times.ok()) return map.Get("times")->Error("'times' must be a whole number from 1 to 4294967295");
  relation.times = static_cast<uint32_t>(*times);
  return absl::OkStatus();
}

absl::Status ReadSum(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"event", "is_sum_of"}));
  relation.kind = Kind::kSum;
  SIDEBAND_ASSIGN_OR_RETURN(relation.whole, ReadEvent(map, "event"));
  return ReadMembers(map, "is_sum_of", relation);
}

absl::Status ReadAtMost(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"event", "at_most"}));
  relation.kind = Kind::kAtMost;
  SIDEBAND_ASSIGN_OR_RETURN(relation.whole, ReadEvent(map, "event"));
  SIDEBAND_ASSIGN_OR_RETURN(NamedEvent bound, ReadEvent(map, "at_most"));
  relation.members.push_back(std::move(bound));
  return absl::OkStatus();
}

absl::StatusOr<NamedRelation> ReadRelation(const YamlNode& node) {
  NamedRelation relation;
  relation.line = node.line();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"sum", "of", "times", "event", "is_sum_of", "at_most"}));
  if (map.Find("sum")) {
    SIDEBAND_RETURN_IF_ERROR(ReadCycles(node, relation));
  } else if (map.Find("is_sum_of")) {
    SIDEBAND_RETURN_IF_ERROR(ReadSum(node, relation));
  } else if (map.Find("at_most")) {
    SIDEBAND_RETURN_IF_ERROR(ReadAtMost(node, relation));
  } else {
    return node.Error("a relation has one of the keys sum, is_sum_of and at_most");
  }
  return relation;
}

using mailbox::RotationProfile;

constexpr uint64_t kCountersMax = 65'536;

absl::Status CheckUse(const YamlMap& map, RotationUse use) {
  const auto refuse = [&](std::initializer_list<const char*> keys, absl::string_view whose) {
    for (const char* key : keys) {
      if (const auto node = map.Find(key)) return node->Error(absl::StrCat("key '", key, "' is only for ", whose));
    }
    return absl::OkStatus();
  };
  if (use != RotationUse::kRequest) SIDEBAND_RETURN_IF_ERROR(refuse({"events", "always"}, "plans that are asked for"));
  if (use == RotationUse::kRequest)
    SIDEBAND_RETURN_IF_ERROR(refuse({"instructions", "dead_cycles", "seed"}, "chip files and replays"));
  if (use != RotationUse::kChip) SIDEBAND_RETURN_IF_ERROR(refuse({"slots_min"}, "chip files"));
  if (use == RotationUse::kReplay) return absl::OkStatus();
  return refuse({"counters", "fixed", "relations"}, "replays: a chip file says it of its units");
}

// The defaults of the other keys are the profile's.
absl::Status ReadProfile(const YamlMap& map, RotationTerms& terms) {
  std::string word = "fast";
  if (const auto node = map.Find("profile")) {
    SIDEBAND_ASSIGN_OR_RETURN(word, node->String());
    if (word != "fast" && word != "two-set") {
      return node->Error(absl::StrCat("profile is '", word, "', must be fast or two-set"));
    }
  }
  terms = DefaultTerms(word == "fast" ? RotationProfile::kFast : RotationProfile::kTwoSet);
  return absl::OkStatus();
}

absl::Status ReadTime(const YamlMap& map, const std::string& key, absl::Duration& time) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  const auto value = node->Duration(kTurnTimeMin, kTurnTimeMax);
  if (!value.ok()) return node->Error(absl::StrCat("'", key, "' must be ", kTurnTimeRange));
  time = absl::Trunc(*value, absl::Nanoseconds(1));
  return absl::OkStatus();
}

absl::Status ReadTimes(const YamlMap& map, RotationTerms& terms) {
  SIDEBAND_RETURN_IF_ERROR(ReadTime(map, "interval", terms.interval));
  const auto node = map.Find("slots");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap times, node->Map({"stable", "fluctuating"}));
  SIDEBAND_RETURN_IF_ERROR(ReadTime(times, "stable", terms.stable_slot));
  return ReadTime(times, "fluctuating", terms.fluctuating_slot);
}

absl::Status ReadCount(const YamlMap& map, const std::string& key, uint64_t low, uint64_t high, uint32_t& value) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  const auto number = node->Uint(low, high);
  if (!number.ok()) return node->Error(absl::StrCat("'", key, "' must be a whole number from ", low, " to ", high));
  value = static_cast<uint32_t>(*number);
  return absl::OkStatus();
}

absl::Status ReadSetsPerPass(const YamlMap& map, RotationTerms& terms) {
  const auto node = map.Find("sets_per_pass");
  if (!node) return absl::OkStatus();
  const auto word = node->String();
  if (word.ok() && *word == "all") {
    terms.sets_per_pass = 0;
    return absl::OkStatus();
  }
  const auto number = node->Uint(1, kSetsPerPassMax);
  if (!number.ok()) return node->Error(absl::StrCat("'sets_per_pass' must be all or ", kSetsPerPassRange));
  terms.sets_per_pass = static_cast<uint32_t>(*number);
  return absl::OkStatus();
}

absl::Status ReadClassifier(const YamlMap& map, RotationTerms& terms) {
  if (const auto node = map.Find("threshold")) {
    const auto threshold = node->Number(0, kThresholdMax);
    if (!threshold.ok()) return node->Error(absl::StrCat("'threshold' must be ", kThresholdRange));
    terms.threshold_per_mille = PerMille(*threshold);
  }
  return ReadCount(map, "step", 1, kStepMax, terms.step);
}

absl::Status ReadAdapt(const YamlMap& map, RotationTerms& terms) {
  const auto node = map.Find("adapt");
  if (!node) return absl::OkStatus();
  const auto adapt = node->Bool();
  if (!adapt.ok()) return node->Error("'adapt' must be true or false");
  if (*adapt && terms.profile == RotationProfile::kTwoSet) {
    return node->Error("the turns of profile two-set are equal: 'adapt' is of profile fast");
  }
  terms.adapt = *adapt;
  return absl::OkStatus();
}

absl::StatusOr<RotationTerms> ReadTerms(const YamlMap& map) {
  RotationTerms terms;
  SIDEBAND_RETURN_IF_ERROR(ReadProfile(map, terms));
  SIDEBAND_RETURN_IF_ERROR(ReadTimes(map, terms));
  SIDEBAND_RETURN_IF_ERROR(ReadClassifier(map, terms));
  SIDEBAND_RETURN_IF_ERROR(ReadSetsPerPass(map, terms));
  SIDEBAND_RETURN_IF_ERROR(ReadAdapt(map, terms));
  return terms;
}

absl::Status ReadWeights(const YamlMap& map, RotationFile& file) {
  const auto node = map.Find("weights");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [event, value] : entries) {
    const auto weight = value.Number(0, kWeightMax);
    if (!weight.ok()) {
      return value.Error(absl::StrCat("weight of '", event, "' must be ", kWeightRange));
    }
    file.weights.push_back({{event, value.line()}, PerMille(*weight)});
  }
  return absl::OkStatus();
}

absl::Status ReadNames(const YamlMap& map, const std::string& key, std::vector<NamedEvent>& events) {
  const auto node = map.Find(key);
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(events, ReadEventNames(*node));
  return absl::OkStatus();
}

absl::Status ReadInstructions(const YamlMap& map, RotationFile& file) {
  const auto node = map.Find("instructions");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node->String());
  file.instructions = NamedEvent{std::move(name), node->line()};
  return absl::OkStatus();
}

// A number, or the text of a hexadecimal one with or without 0x.
absl::Status ReadSeed(const YamlMap& map, RotationFile& file) {
  const auto node = map.Find("seed");
  if (!node) return absl::OkStatus();
  const auto number = node->Uint(0, std::numeric_limits<uint64_t>::max());
  if (number.ok()) {
    file.seed = *number;
    return absl::OkStatus();
  }
  const std::string text = node->String().value_or("");
  absl::string_view digits = text;
  absl::ConsumePrefix(&digits, "0x");
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return node->Error("'seed' must be a number of 64 bits: decimal, or up to 16 hexadecimal digits");
  }
  file.seed = seed;
  return absl::OkStatus();
}

absl::Status ReadOfReplay(const YamlMap& map, RotationFile& file) {
  if (map.Find("counters")) {
    uint32_t counters = 0;
    SIDEBAND_RETURN_IF_ERROR(ReadCount(map, "counters", 1, kCountersMax, counters));
    file.counters = counters;
  }
  SIDEBAND_RETURN_IF_ERROR(ReadNames(map, "fixed", file.fixed));
  const auto node = map.Find("relations");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(file.relations, ReadRelations(*node));
  return absl::OkStatus();
}

}  // namespace

RotationTerms DefaultTerms(RotationProfile profile) {
  const bool is_two_set = profile == RotationProfile::kTwoSet;
  RotationTerms terms;
  terms.profile = profile;
  terms.stable_slot = is_two_set ? absl::Seconds(8) : absl::Microseconds(200);
  terms.fluctuating_slot = is_two_set ? absl::Seconds(4) : absl::Microseconds(100);
  terms.interval = absl::Milliseconds(500);
  terms.sets_per_pass = is_two_set ? 2 : 0;
  terms.adapt = !is_two_set;
  return terms;
}

uint32_t PerMille(double number) { return static_cast<uint32_t>(std::lround(1000 * number)); }

uint64_t CyclesOf(absl::Duration time, uint64_t clock_hz) {
  const double cycles = absl::ToDoubleSeconds(time) * static_cast<double>(clock_hz);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(std::min(cycles, kCyclesMax))));
}

mailbox::RotationSettings SettingsOf(const RotationTerms& terms, uint64_t clock_hz) {
  return {.profile = terms.profile,
          .stable_slot = CyclesOf(terms.stable_slot, clock_hz),
          .fluctuating_slot = CyclesOf(terms.fluctuating_slot, clock_hz),
          .interval = CyclesOf(terms.interval, clock_hz),
          .threshold_per_mille = terms.threshold_per_mille,
          .step = terms.step,
          .sets_per_pass = terms.sets_per_pass,
          .adapt = terms.adapt,
          .weights = {}};
}

absl::StatusOr<std::vector<NamedEvent>> ReadEventNames(const YamlNode& list) {
  std::vector<NamedEvent> events;
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list.List());
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
    if (std::ranges::find(events, name, &NamedEvent::name) != events.end()) {
      return node.Error(absl::StrCat("event '", name, "' is listed twice"));
    }
    events.push_back({std::move(name), node.line()});
  }
  return events;
}

EventNumbers::EventNumbers(std::vector<std::string> names, std::string path)
    : names_(std::move(names)), path_(std::move(path)) {
  for (size_t event = 0; event < names_.size(); ++event) numbers_[names_[event]] = static_cast<uint16_t>(event);
}

absl::StatusOr<uint16_t> EventNumbers::Of(const NamedEvent& event) const {
  const auto number = numbers_.find(event.name);
  if (number != numbers_.end()) return number->second;
  return LineError(path_, event.line, absl::StrCat("no event '", event.name, "'", DidYouMean(event.name, names_)));
}

absl::StatusOr<std::vector<uint16_t>> EventNumbers::Of(const std::vector<NamedEvent>& events) const {
  std::vector<uint16_t> numbers;
  for (const NamedEvent& event : events) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, Of(event));
    numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

absl::StatusOr<mailbox::EventSet> EventNumbers::SetOf(const std::vector<NamedEvent>& events) const {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint16_t> numbers, Of(events));
  mailbox::EventSet set;
  if (!numbers.empty()) set = mailbox::EmptySet(names_.size());
  for (const uint16_t number : numbers) mailbox::Insert(number, set);
  return set;
}

absl::StatusOr<std::vector<NamedRelation>> ReadRelations(const YamlNode& list) {
  std::vector<NamedRelation> relations;
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list.List());
  if (nodes.size() > mailbox::kRelationsMax) {
    return nodes[mailbox::kRelationsMax].Error(absl::StrCat("more than ", mailbox::kRelationsMax, " relations"));
  }
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(NamedRelation relation, ReadRelation(node));
    relations.push_back(std::move(relation));
  }
  return relations;
}

absl::StatusOr<mailbox::Relation> RelationOf(const NamedRelation& relation, const EventNumbers& numbers) {
  mailbox::Relation result{.kind = relation.kind, .members = {}, .whole = 0, .times = relation.times};
  SIDEBAND_ASSIGN_OR_RETURN(result.members, numbers.Of(relation.members));
  if (relation.kind == Kind::kCycles) return result;
  SIDEBAND_ASSIGN_OR_RETURN(result.whole, numbers.Of(relation.whole));
  return result;
}

absl::StatusOr<RotationFile> LoadRotationFile(const std::string& path, RotationUse use) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(path));
  return ReadRotation(root, path, use);
}

absl::StatusOr<RotationFile> ReadRotation(const YamlNode& node, const std::string& path, RotationUse use) {
  SIDEBAND_ASSIGN_OR_RETURN(
      const YamlMap map,
      node.Map({"profile", "slots", "interval", "threshold", "step", "sets_per_pass", "adapt", "weights", "events",
                "always", "instructions", "dead_cycles", "seed", "slots_min", "counters", "fixed", "relations"}));
  SIDEBAND_RETURN_IF_ERROR(CheckUse(map, use));
  RotationFile file;
  file.path = path, file.line = node.line();
  SIDEBAND_ASSIGN_OR_RETURN(file.terms, ReadTerms(map));
  SIDEBAND_RETURN_IF_ERROR(ReadWeights(map, file));
  SIDEBAND_RETURN_IF_ERROR(ReadNames(map, "events", file.events));
  // Left out, it means all.
  if (const auto events = map.Find("events"); events && file.events.empty())
    return events->Error("'events' has no event");
  SIDEBAND_RETURN_IF_ERROR(ReadNames(map, "always", file.always));
  SIDEBAND_RETURN_IF_ERROR(ReadInstructions(map, file));
  SIDEBAND_RETURN_IF_ERROR(ReadCount(map, "dead_cycles", 0, std::numeric_limits<uint32_t>::max(), file.dead_cycles));
  SIDEBAND_RETURN_IF_ERROR(ReadSeed(map, file));
  if (map.Find("slots_min")) SIDEBAND_RETURN_IF_ERROR(ReadTime(map, "slots_min", file.slots_min.emplace()));
  SIDEBAND_RETURN_IF_ERROR(ReadOfReplay(map, file));
  return file;
}

absl::StatusOr<mailbox::RotationSettings> SettingsOf(const RotationFile& file, const EventNumbers& numbers,
                                                     uint64_t clock_hz) {
  mailbox::RotationSettings settings = SettingsOf(file.terms, clock_hz);
  for (const EventWeight& weight : file.weights) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event, numbers.Of(weight.event));
    settings.weights[event] = weight.per_mille;
  }
  return settings;
}

}  // namespace sideband
