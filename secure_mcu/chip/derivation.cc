// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/derivation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

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

}  // namespace sideband::mcu
