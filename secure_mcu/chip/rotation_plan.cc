// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_plan.h"

#include <algorithm>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

using mailbox::EventSet;
using mailbox::Includes;

// The events by what is wanted of them.
struct Roles {
  EventSet always;
  EventSet turning;
  EventSet absent;  // of switched units, but not wanted
};

absl::Status CheckWanted(const EventSet& events, const CounterNeeds& needs, const EventNamer& name) {
  for (size_t event = 0; event < events.size() * mailbox::kEventSetWord; ++event) {
    if (!Includes(events, event) || needs.Has(event)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("event ", name(event), " cannot take turns: its units have a counter for each of their events"));
  }
  return absl::OkStatus();
}

absl::Status CheckWishes(const PlanWishes& wishes, size_t events, const CounterNeeds& needs, const EventNamer& name) {
  for (const EventSet* set : {&wishes.events, &wishes.always}) {
    for (size_t event = events; event < set->size() * mailbox::kEventSetWord; ++event) {
      if (Includes(*set, event)) return absl::InvalidArgumentError(absl::StrCat("no event ", event));
    }
    SIDEBAND_RETURN_IF_ERROR(CheckWanted(*set, needs, name));
  }
  for (size_t event = 0; event < events; ++event) {
    if (wishes.events.empty() || !Includes(wishes.always, event) || Includes(wishes.events, event)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("event ", name(event), " is to be counted always, but is not among the events"));
  }
  return absl::OkStatus();
}

Roles RolesOf(const PipelineConfig& config, const PlanWishes& wishes, const CounterNeeds& needs) {
  const EventSet none = mailbox::EmptySet(config.events);
  Roles roles{none, none, none};
  for (size_t event = 0; event < config.events; ++event) {
    if (!needs.Has(event)) continue;
    const bool is_fixed = config.rotation && Includes(config.rotation->fixed, event);
    const bool is_always = is_fixed || Includes(wishes.always, event);
    const bool is_wanted = wishes.events.empty() || Includes(wishes.events, event);
    mailbox::Insert(event, is_always ? roles.always : is_wanted ? roles.turning : roles.absent);
  }
  return roles;
}

// Those that a relation determines from events that are always counted cost nothing, so that they are always wanted,
// unless they could not even take turns.
void WantWhatIsFree(std::span<const mailbox::Relation> relations, const CounterNeeds& needs, const Room& room,
                    Roles& roles) {
  for (const mailbox::Relation& relation : relations) {
    if (relation.kind == mailbox::Relation::Kind::kAtMost) continue;
    std::vector<uint16_t> missing = relation.members;
    if (relation.kind == mailbox::Relation::Kind::kSum) missing.push_back(relation.whole);
    std::erase_if(missing,
                  [&](uint16_t event) { return !Includes(roles.turning, event) && !Includes(roles.absent, event); });
    if (missing.size() != 1 || !Includes(roles.absent, missing[0]) || !Fits(needs.Of(missing[0]), room)) continue;
    roles.absent[missing[0] / mailbox::kEventSetWord] &= ~(uint64_t{1} << missing[0] % mailbox::kEventSetWord);
    mailbox::Insert(missing[0], roles.turning);
  }
}

// What the events that are always counted leave.
absl::StatusOr<Room> RoomBeside(const EventSet& always, const CounterNeeds& needs) {
  Room room = needs.AllCounters();
  const Need need = needs.Of(always);
  for (const auto& [kind, counters] : need) {
    if (counters <= room[kind]) continue;
    return absl::InvalidArgumentError(absl::StrCat("the events of unit ", needs.kinds()[kind].name,
                                                   " that are always counted need ", counters, " counters, it has ",
                                                   room[kind]));
  }
  Take(need, room);
  return room;
}

absl::Status CheckWidths(const EventSet& turning, const CounterNeeds& needs, const Room& room, const EventNamer& name) {
  for (size_t event = 0; event < turning.size() * mailbox::kEventSetWord; ++event) {
    if (!Includes(turning, event)) continue;
    for (const auto& [kind, counters] : needs.Of(event)) {
      if (counters <= room[kind]) continue;
      return absl::InvalidArgumentError(absl::StrCat("event ", name(event), " needs ", counters, " counters of unit ",
                                                     needs.kinds()[kind].name, ", which has ", room[kind],
                                                     " for events that take turns"));
    }
  }
  return absl::OkStatus();
}

// The largest share of a kind's room that the bundle needs, in units of 2^-20.
uint64_t ShareOf(const Bundle& bundle, const Room& room) {
  uint64_t share = 0;
  for (const auto& [kind, counters] : bundle.need) share = std::max(share, (uint64_t{counters} << 20) / room[kind]);
  return share;
}

class Packer {
 public:
  Packer(std::vector<Bundle> bundles, const Room& room) : bundles_(std::move(bundles)), room_(room) {
    std::ranges::stable_sort(bundles_, std::ranges::greater(),
                             [&](const Bundle& bundle) { return ShareOf(bundle, room_); });
    for (size_t bundle = 0; bundle < bundles_.size(); ++bundle) PlaceFirst(bundle);
    if (sets_.empty()) AddSet();
    for (size_t bundle = 0; bundle < bundles_.size(); ++bundle) {
      if (bundles_[bundle].need.empty()) PlaceEverywhere(bundle);
    }
  }

  size_t size() const { return sets_.size(); }

  // The bundles of the fewest sets take what room is left, each in the first set that has it.
  void Fill() {
    using Turn = std::pair<size_t, size_t>;  // sets, bundle
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (size_t bundle = 0; bundle < bundles_.size(); ++bundle) turns.emplace(1, bundle);
    while (!turns.empty()) {
      const auto [count, bundle] = turns.top();
      turns.pop();
      if (PlaceAgain(bundle)) turns.emplace(count + 1, bundle);
    }
  }

  std::vector<EventSet> Sets(const EventSet& always) const {
    std::vector<EventSet> sets;
    for (const Set& set : sets_) {
      EventSet& events = sets.emplace_back(always);
      for (const size_t bundle : set.bundles) {
        for (const uint16_t event : bundles_[bundle].events) mailbox::Insert(event, events);
      }
    }
    return sets;
  }

 private:
  struct Set {
    std::set<size_t> bundles;
    Room room;
  };

  void AddSet() { sets_.push_back({{}, room_}); }

  void Place(size_t bundle, Set& set) {
    Take(bundles_[bundle].need, set.room);
    set.bundles.insert(bundle);
  }

  void PlaceFirst(size_t bundle) {
    if (bundles_[bundle].need.empty() || PlaceAgain(bundle)) return;
    AddSet();
    Place(bundle, sets_.back());
  }

  bool PlaceAgain(size_t bundle) {
    for (Set& set : sets_) {
      if (set.bundles.contains(bundle) || !Fits(bundles_[bundle].need, set.room)) continue;
      Place(bundle, set);
      return true;
    }
    return false;
  }

  void PlaceEverywhere(size_t bundle) {
    for (Set& set : sets_) Place(bundle, set);
  }

  std::vector<Bundle> bundles_;
  const Room& room_;
  std::vector<Set> sets_;
};

EventSet InEverySet(const CounterPlan& plan) {
  EventSet events = plan.sets.front();
  for (const EventSet& set : plan.sets) {
    for (size_t word = 0; word < events.size(); ++word) events[word] &= set[word];
  }
  for (const DerivedEvent& derived : plan.derived) {
    events[derived.event / mailbox::kEventSetWord] &= ~(uint64_t{1} << derived.event % mailbox::kEventSetWord);
  }
  return events;
}

EventSet FixedOf(const PipelineConfig& config) {
  EventSet fixed = config.rotation->fixed;
  fixed.resize(mailbox::EmptySet(config.events).size());
  return fixed;
}

}  // namespace

bool CounterPlan::IsDerived(size_t event) const {
  return std::ranges::any_of(derived, [&](const DerivedEvent& entry) { return entry.event == event; });
}

bool CounterPlan::Counts(size_t set, size_t event) const { return Includes(sets[set], event) && !IsDerived(event); }

absl::StatusOr<CounterPlan> PlanCounters(const PipelineConfig& config, const PlanWishes& wishes,
                                         const EventNamer& name) {
  const CounterNeeds needs(config);
  SIDEBAND_RETURN_IF_ERROR(CheckWishes(wishes, config.events, needs, name));
  Roles roles = RolesOf(config, wishes, needs);
  SIDEBAND_ASSIGN_OR_RETURN(const Room room, RoomBeside(roles.always, needs));
  WantWhatIsFree(config.relations, needs, room, roles);
  SIDEBAND_RETURN_IF_ERROR(CheckWidths(roles.turning, needs, room, name));
  Derivation derivation = Derive(config.relations, needs, room, roles.turning, roles.absent);
  Packer packer(derivation.bundles, room);
  Packer plain(Derive({}, needs, room, roles.turning, roles.absent).bundles, room);
  const bool is_worth_it = packer.size() < plain.size() || (packer.size() == plain.size() && plain.size() > 1);
  Packer& chosen = is_worth_it ? packer : plain;
  if (!is_worth_it) derivation.events.clear();
  if (chosen.size() > mailbox::kRotationSetsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the events need ", chosen.size(), " counter sets, of at most ", mailbox::kRotationSetsMax));
  }
  if (wishes.fill) chosen.Fill();
  CounterPlan plan{.sets = chosen.Sets(roles.always), .fixed = {}, .derived = std::move(derivation.events)};
  // The others' multiplexers are open in dead cycles.
  const bool has_dead = config.rotation && config.rotation->dead_cycles > 0 && plan.sets.size() > 1;
  plan.fixed = has_dead ? FixedOf(config) : InEverySet(plan);
  return plan;
}

mailbox::Counting CountingOf(const CounterPlan& plan, size_t event) {
  if (plan.IsDerived(event)) return mailbox::Counting::kDerived;
  const bool is_in_some = std::ranges::any_of(plan.sets, [&](const EventSet& set) { return Includes(set, event); });
  return is_in_some && !Includes(plan.fixed, event) ? mailbox::Counting::kRotated : mailbox::Counting::kFixed;
}

}  // namespace sideband::mcu
