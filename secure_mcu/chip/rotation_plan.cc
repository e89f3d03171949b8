// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
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
using mailbox::Relation;

struct Candidate {
  DerivedEvent derived;
  uint64_t saved = 0;  // counters
};

// The whole first, then the members from the last on.
std::vector<uint16_t> WholeThenMembers(const Relation& relation) {
  std::vector<uint16_t> events(relation.members.rbegin(), relation.members.rend());
  if (relation.kind == Relation::Kind::kSum) events.insert(events.begin(), relation.whole);
  return events;
}

class Deriver {
 public:
  Deriver(std::span<const Relation> relations, const CounterNeeds& needs, const Room& room, const EventSet& turning,
          const EventSet& absent)
      : relations_(relations), needs_(needs), room_(room), turning_(turning), absent_(absent) {
    for (size_t event = 0; event < turning.size() * mailbox::kEventSetWord; ++event) {
      if (!Includes(turning, event)) continue;
      bundle_of_[static_cast<uint16_t>(event)] = bundles_.size();
      bundles_.push_back({{static_cast<uint16_t>(event)}, needs.Of(event)});
    }
  }

  Derivation Run() {
    for (const Candidate& candidate : Candidates()) TryDerive(candidate.derived);
    Derivation result;
    std::set<uint16_t> done;
    for (const auto& [event, relation] : relation_of_) AddInOrder(event, done, result.events);
    for (Bundle& bundle : bundles_) {
      if (bundle.events.empty()) continue;
      std::ranges::sort(bundle.events);
      result.bundles.push_back(std::move(bundle));
    }
    std::ranges::sort(result.bundles, {}, [](const Bundle& bundle) { return bundle.events.front(); });
    return result;
  }

 private:
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> candidates;
    for (size_t r = 0; r < relations_.size(); ++r) {
      if (relations_[r].kind == Relation::Kind::kAtMost) continue;
      for (const uint16_t event : WholeThenMembers(relations_[r])) {
        if (!Includes(turning_, event)) continue;
        uint64_t saved = 0;
        for (const auto& [kind, counters] : needs_.Of(event)) saved += counters;
        candidates.push_back({{event, r}, saved});
      }
    }
    std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::saved);
    return candidates;
  }

  // Bundles only grow and dependencies are only added, so that what is refused once stays impossible.
  void TryDerive(const DerivedEvent& derived) {
    if (used_.contains(derived.relation) || relation_of_.contains(derived.event)) return;
    std::vector<uint16_t> others = WholeThenMembers(relations_[derived.relation]);
    std::erase(others, derived.event);
    std::set<uint16_t> seen;
    for (const uint16_t other : others) {
      if (Includes(absent_, other) || DependsOn(other, derived.event, seen)) return;
    }
    if (!Merge(derived.event, others)) return;
    used_.insert(derived.relation);
    relation_of_[derived.event] = derived.relation;
  }

  bool DependsOn(uint16_t event, uint16_t other, std::set<uint16_t>& seen) const {
    if (event == other) return true;
    const auto relation = relation_of_.find(event);
    if (relation == relation_of_.end() || !seen.insert(event).second) return false;
    return std::ranges::any_of(WholeThenMembers(relations_[relation->second]),
                               [&](uint16_t next) { return next != event && DependsOn(next, other, seen); });
  }

  bool Merge(uint16_t event, const std::vector<uint16_t>& others) {
    std::set<size_t> merged = {bundle_of_.at(event)};
    for (const uint16_t other : others) {
      if (Includes(turning_, other)) merged.insert(bundle_of_.at(other));
    }
    Bundle sum;
    for (const size_t bundle : merged) {
      sum.events.insert(sum.events.end(), bundles_[bundle].events.begin(), bundles_[bundle].events.end());
      Add(bundles_[bundle].need, sum.need);
    }
    for (const auto& [kind, counters] : needs_.Of(event)) {
      if ((sum.need[kind] -= counters) == 0) sum.need.erase(kind);
    }
    if (!Fits(sum.need, room_)) return false;
    for (const size_t bundle : merged) bundles_[bundle] = {};
    for (const uint16_t member : sum.events) bundle_of_[member] = *merged.begin();
    bundles_[*merged.begin()] = std::move(sum);
    return true;
  }

  void AddInOrder(uint16_t event, std::set<uint16_t>& done, std::vector<DerivedEvent>& order) const {
    const auto relation = relation_of_.find(event);
    if (relation == relation_of_.end() || !done.insert(event).second) return;
    for (const uint16_t other : WholeThenMembers(relations_[relation->second])) AddInOrder(other, done, order);
    order.push_back({event, relation->second});
  }

  const std::span<const Relation> relations_;
  const CounterNeeds& needs_;
  const Room& room_;
  const EventSet& turning_;
  const EventSet& absent_;
  std::map<uint16_t, size_t> bundle_of_;
  std::vector<Bundle> bundles_;             // empty: merged into another
  std::map<uint16_t, size_t> relation_of_;  // of derived events
  std::set<size_t> used_;                   // relations
};

}  // namespace

Derivation Derive(std::span<const Relation> relations, const CounterNeeds& needs, const Room& room,
                  const EventSet& turning, const EventSet& absent) {
  return Deriver(relations, needs, room, turning, absent).Run();
}

namespace {

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

// An event that a relation determines from events that are always counted costs nothing, so that it is always wanted,
// unless it could not even be multiplexed.
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

// The counters that the events that are always counted leave.
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
