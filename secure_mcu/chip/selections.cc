// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/selections.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/counting.h"

namespace sideband::mcu {
namespace {

constexpr size_t kWordEvents = 64;

using Meanings = std::set<std::pair<uint16_t, uint8_t>>;

void AddMeanings(std::span<const EventShare> shares, Meanings& meanings) {
  for (const EventShare& share : shares) meanings.emplace(share.event, share.shift);
}

std::vector<EventShare> UnmaskedOf(const UlcSpec& ulc) {
  std::vector<EventShare> sources;
  for (const CounterInput& input : ulc.inputs) {
    if (!input.masked) sources.push_back(input.meaning);
  }
  return sources;
}

void AddKind(SwitchedKind kind, std::vector<SwitchedKind>& kinds) {
  const auto is_same = [&](const SwitchedKind& other) {
    return other.counters == kind.counters && other.sources == kind.sources;
  };
  if (std::ranges::none_of(kinds, is_same)) kinds.push_back(std::move(kind));
}

// Kinds of the same shape are alike.
using Shape = std::pair<uint32_t, std::vector<std::pair<uint16_t, uint8_t>>>;

Shape ShapeOf(const SwitchedKind& kind) {
  Shape shape{kind.counters, {}};
  for (const EventShare& share : kind.sources) shape.second.emplace_back(share.event, share.shift);
  return shape;
}

// The inputs of a unit-level counter that have a counter, and their numbers within the unit.
struct Connected {
  std::vector<CounterInput> inputs;
  std::vector<uint16_t> ids;
};

Connected ConnectedOf(const UlcSpec& ulc, const mailbox::EventSet& set) {
  Connected connected;
  for (size_t i = 0; i < ulc.inputs.size(); ++i) {
    const CounterInput& input = ulc.inputs[i];
    if (ulc.is_switched() && (input.masked || !mailbox::Includes(set, input.meaning.event))) continue;
    connected.inputs.push_back(input);
    connected.ids.push_back(static_cast<uint16_t>(i));
  }
  return connected;
}

}  // namespace

std::vector<SwitchedKind> SwitchedKinds(const CcuSpec& ccu) {
  std::vector<SwitchedKind> kinds;
  for (const UlcSpec& ulc : ccu.ulcs) {
    if (!ulc.is_switched()) continue;
    SwitchedKind kind{ulc.name, ulc.counters, UnmaskedOf(ulc)};
    if (!kind.sources.empty()) AddKind(std::move(kind), kinds);
  }
  return kinds;
}

size_t CcuCounters(const CcuSpec& ccu) {
  Meanings always, all;
  for (const UlcSpec& ulc : ccu.ulcs) {
    if (!ulc.is_switched()) AddMeanings(UnmaskedOf(ulc), always);
  }
  all = always;
  size_t switched = 0;
  for (const SwitchedKind& kind : SwitchedKinds(ccu)) {
    AddMeanings(kind.sources, all);
    switched += kind.counters;
  }
  return std::min(all.size(), always.size() + switched);
}

std::string EventNumber(size_t event) { return absl::StrCat(event); }

SelectableEvents::SelectableEvents(const PipelineConfig& config)
    : size_(config.events),
      events_((config.events + kWordEvents - 1) / kWordEvents),
      groups_(config.gate_groups.size()) {
  if (config.rotation) return;  // its switched units are not for choosing
  std::vector<std::set<size_t>> groups(groups_.size());
  for (const CcuSpec& ccu : config.ccus) {
    for (SwitchedKind& kind : SwitchedKinds(ccu)) AddKind(std::move(kind), kinds_);
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        if (!ulc.is_switched() || input.masked) continue;
        const uint16_t event = input.meaning.event;
        events_[event / kWordEvents] |= uint64_t{1} << event % kWordEvents;
        if (input.group) groups[*input.group].insert(event);
      }
    }
  }
  for (size_t g = 0; g < groups.size(); ++g) groups_[g].assign(groups[g].begin(), groups[g].end());
}

absl::Status SelectableEvents::CheckEvents(const mailbox::EventSet& selection, const EventNamer& name) const {
  if (selection.size() != events_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(selection.size(), " words, must be ", events_.size()));
  }
  for (size_t event = 0; event < selection.size() * kWordEvents; ++event) {
    if (!mailbox::Includes(selection, event) || Has(event)) continue;
    if (event >= size_) return absl::InvalidArgumentError(absl::StrCat("event ", event, " is not of this chip"));
    return absl::InvalidArgumentError(absl::StrCat("event ", name(event), " is not selectable"));
  }
  return absl::OkStatus();
}

absl::Status SelectableEvents::CheckCounters(const mailbox::EventSet& selection) const {
  for (const SwitchedKind& kind : kinds_) {
    const auto counters = std::ranges::count_if(
        kind.sources, [&](const EventShare& share) { return mailbox::Includes(selection, share.event); });
    if (static_cast<uint64_t>(counters) <= kind.counters) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the events of unit ", kind.name, " need ", counters, " counters, it has ", kind.counters));
  }
  return absl::OkStatus();
}

absl::Status SelectableEvents::CheckGroups(const mailbox::EventSet& selection, const EventNamer& name) const {
  const auto is_selected = [&](size_t event) { return mailbox::Includes(selection, event); };
  for (const std::vector<size_t>& group : groups_) {
    const auto in = std::ranges::find_if(group, is_selected);
    const auto out = std::ranges::find_if_not(group, is_selected);
    if (in == group.end() || out == group.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("event ", name(*in), " is selected and event ", name(*out),
                     " is not: a selection has all selectable events of a group or none"));
  }
  return absl::OkStatus();
}

absl::Status SelectableEvents::Check(const mailbox::EventSet& selection, const EventNamer& name) const {
  SIDEBAND_RETURN_IF_ERROR(CheckEvents(selection, name));
  SIDEBAND_RETURN_IF_ERROR(CheckCounters(selection));
  return CheckGroups(selection, name);
}

absl::Status SelectableEvents::Check(std::span<const mailbox::EventSet> selections) const {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of selections", selections.size(), 0, mailbox::kSelectionsMax));
  for (size_t i = 0; i < selections.size(); ++i) {
    const absl::Status status = Check(selections[i]);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("selection ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

uint64_t SelectableEvents::OpenGroups(const mailbox::EventSet& selection) const {
  uint64_t open = ~uint64_t{0};
  for (size_t g = 0; g < groups_.size(); ++g) {
    const bool is_out = !groups_[g].empty() && std::ranges::none_of(groups_[g], [&](size_t event) {
      return mailbox::Includes(selection, event);
    });
    if (is_out) open &= ~(uint64_t{1} << g);
  }
  return open;
}

void Add(const Need& need, Need& sum) {
  for (const auto& [kind, counters] : need) sum[kind] += counters;
}

bool Fits(const Need& need, const Room& room) {
  return std::ranges::all_of(need, [&](const auto& entry) { return entry.second <= room[entry.first]; });
}

void Take(const Need& need, Room& room) {
  for (const auto& [kind, counters] : need) room[kind] -= counters;
}

CounterNeeds::CounterNeeds(const PipelineConfig& config) : needs_(config.events) {
  std::set<Shape> shapes;
  for (const CcuSpec& ccu : config.ccus) {
    for (SwitchedKind& kind : SwitchedKinds(ccu)) {
      if (shapes.insert(ShapeOf(kind)).second) kinds_.push_back(std::move(kind));
    }
  }
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const EventShare& share : kinds_[kind].sources) ++needs_[share.event][kind];
  }
}

Room CounterNeeds::AllCounters() const {
  Room room;
  for (const SwitchedKind& kind : kinds_) room.push_back(kind.counters);
  return room;
}

const Need& CounterNeeds::Of(size_t event) const {
  static const Need* const none = new Need();
  return event < needs_.size() ? needs_[event] : *none;
}

Need CounterNeeds::Of(const mailbox::EventSet& events) const {
  Need sum;
  for (size_t event = 0; event < needs_.size(); ++event) {
    if (mailbox::Includes(events, event)) Add(needs_[event], sum);
  }
  return sum;
}

Selections::Selections(const PipelineConfig& config)
    : ccus_(config.ccus), selectable_(config), meanings_(std::make_shared<EventMeanings>()) {
  for (const CcuSpec& ccu : ccus_) is_switched_.push_back(!SwitchedKinds(ccu).empty());
  rows_.push_back(RowFor({}));
  Set(config.selections);
}

void Selections::Connect(const CcuSpec& ccu, Row& row) const {
  CcuSpec connected{.ulcs = {}};
  Choice& choice = row.choices.emplace_back();
  for (const UlcSpec& ulc : ccu.ulcs) {
    Connected of = ConnectedOf(ulc, row.set);
    UnitLevelCounter::Sources& sources = choice.sources.emplace_back();
    if (ulc.is_switched()) {
      sources = mcu::SourcesOf(of.inputs);
      sources.ids = std::move(of.ids);
    }
    connected.ulcs.push_back({.inputs = std::move(of.inputs)});
  }
  CounterAllocation counters = AllocateCounters(connected);
  choice.mapping = std::move(counters.mapping);
  // Counters without a source, which stay 0, have some meaning, too.
  counters.meanings.resize(CcuCounters(ccu));
  row.meanings.push_back(std::move(counters.meanings));
}

Selections::Row Selections::RowFor(const mailbox::EventSet& set) const {
  Row row{.set = set, .choices = {}, .meanings = {}, .open_groups = selectable_.OpenGroups(set)};
  for (const CcuSpec& ccu : ccus_) Connect(ccu, row);
  return row;
}

std::vector<uint64_t> Selections::OpenGroups() const {
  std::vector<uint64_t> groups;
  for (size_t i = 0; i < sets_.size(); ++i) groups.push_back(rows_[i].open_groups);
  return groups;
}

void Selections::Set(std::vector<mailbox::EventSet> sets) {
  std::vector<Row> rows;
  for (size_t i = 0; i < sets.size(); ++i) {
    const bool is_new = i >= sets_.size() || sets_[i] != sets[i];
    rows.push_back(is_new ? RowFor(sets[i]) : std::move(rows_[i]));
  }
  rows.push_back(std::move(rows_.back()));
  rows_ = std::move(rows);
  sets_ = std::move(sets);
  ShowMeanings();
}

// Which gates are open does not depend on whose turn it is.
void Selections::SetTurns(const std::vector<mailbox::EventSet>& turns) {
  turns_.clear();
  for (const mailbox::EventSet& set : turns) {
    turns_.push_back(RowFor(set));
    turns_.back().open_groups = ~uint64_t{0};
  }
  ShowMeanings();
}

const Selections::Row& Selections::RowOf(uint8_t select) const {
  if (select >= kTurnSelectFirst) return turns_[select - kTurnSelectFirst];
  return select < sets_.size() ? rows_[select] : rows_.back();
}

void Selections::ShowMeanings() {
  meanings_->clear();
  for (uint8_t select = 0; select < (empty() && turns_.empty() ? 1 : kTurnSelectFirst); ++select) {
    meanings_->push_back(RowOf(select).meanings);
  }
  for (const Row& turn : turns_) meanings_->push_back(turn.meanings);
}

}  // namespace sideband::mcu
