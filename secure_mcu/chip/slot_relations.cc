// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/slot_relations.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::Relation;

bool Includes(const Relation& relation, uint16_t event) { return std::ranges::binary_search(relation.members, event); }

// What an event is derived from must be known to be right before what is derived from it is checked.
std::vector<size_t> OrderOf(const RotationTable& table) {
  std::vector<size_t> order;
  for (const DerivedEvent& derived : table.plan.derived) order.push_back(derived.relation);
  for (size_t i = 0; i < table.relations.size(); ++i) {
    if (std::ranges::find(table.plan.derived, i, &DerivedEvent::relation) == table.plan.derived.end())
      order.push_back(i);
  }
  return order;
}

}  // namespace

SlotRelations::SlotRelations(std::shared_ptr<const RotationTable> table)
    : table_(std::move(table)),
      order_(OrderOf(*table_)),
      is_off_(table_->relations.size()),
      is_lost_(table_->turns.size()),
      is_missing_(table_->turns.size()) {}

bool SlotRelations::NeedsAny(const DerivedEvent& derived, const std::vector<bool>& events) const {
  const Relation& relation = table_->relations[derived.relation];
  const auto needs = [&](uint16_t event) { return event != derived.event && events[event]; };
  return (relation.kind == Relation::Kind::kSum && needs(relation.whole)) ||
         std::ranges::any_of(relation.members, needs);
}

void SlotRelations::TurnOff(size_t relation) {
  is_off_[relation] = true;
  ++broken_;
  for (const DerivedEvent& derived : table_->plan.derived) {
    if (is_off_[derived.relation] || NeedsAny(derived, is_lost_)) is_lost_[derived.event] = true;
  }
}

void SlotRelations::BeginSlot() { is_missing_.assign(is_missing_.size(), false); }

void SlotRelations::Saturate(uint16_t event) {
  is_missing_[event] = true;
  for (const DerivedEvent& derived : table_->plan.derived) {
    if (NeedsAny(derived, is_missing_)) is_missing_[derived.event] = true;
  }
}

bool SlotRelations::IsKnown(size_t set, uint16_t event) const {
  return table_->IsCounted(set, event) && !is_lost_[event] && !is_missing_[event];
}

absl::uint128 SlotRelations::MostOf(uint16_t event, const SlotLengths& lengths) const {
  const LineGain& gain = table_->gains[event];
  return absl::uint128(gain.per_cycle) * lengths.running[gain.line];
}

SlotRelations::Amount SlotRelations::CyclesOf(const Relation& relation, const SlotLengths& lengths) const {
  return Amount(relation.times) * kGainScale * lengths.running[table_->gains[relation.members[0]].line];
}

// What the members gain together; of kAtMost and kSum the whole must be known.
SlotRelations::Amount SlotRelations::WholeOf(const Relation& relation, const SlotLengths& lengths,
                                             std::span<const uint64_t> counts) const {
  if (relation.kind == Relation::Kind::kCycles) return CyclesOf(relation, lengths);
  return Amount(counts[relation.whole]) * kGainScale;
}

// The known members' gain.
SlotRelations::Amount SlotRelations::Known(size_t set, const Relation& relation,
                                           std::span<const uint64_t> counts) const {
  Amount sum = 0;
  for (const uint16_t member : relation.members) {
    if (IsKnown(set, member)) sum += Amount(counts[member]) * kGainScale;
  }
  return sum;
}

bool SlotRelations::Holds(size_t set, const Relation& relation, const SlotLengths& lengths,
                          std::span<const uint64_t> counts) const {
  const bool is_whole_known = relation.kind == Relation::Kind::kCycles || IsKnown(set, relation.whole);
  if (!is_whole_known) return true;
  const Amount whole = WholeOf(relation, lengths, counts), known = Known(set, relation, counts);
  const bool all = std::ranges::all_of(relation.members, [&](uint16_t member) { return IsKnown(set, member); });
  if (relation.kind == Relation::Kind::kAtMost) return !all || whole <= known;
  return all ? whole == known : known <= whole;
}

void SlotRelations::Check(size_t set, const SlotLengths& lengths, std::span<const uint64_t> counts) {
  for (const size_t i : order_) {
    if (!is_off_[i] && !Holds(set, table_->relations[i], lengths, counts)) TurnOff(i);
  }
}

SlotRelations::Amount SlotRelations::Derived(const DerivedEvent& derived, const SlotLengths& lengths,
                                             std::span<const uint64_t> counts) const {
  const Relation& relation = table_->relations[derived.relation];
  Amount others = 0;
  for (const uint16_t member : relation.members) {
    if (member != derived.event) others += Amount(counts[member]) * kGainScale;
  }
  if (!Includes(relation, derived.event)) return others;
  return WholeOf(relation, lengths, counts) - others;
}

void SlotRelations::Derive(size_t set, const SlotLengths& lengths, std::span<uint64_t> counts,
                           std::span<uint64_t> gained) const {
  std::vector<bool> failed = is_lost_;
  for (const DerivedEvent& derived : table_->plan.derived) {
    if (!IsKnown(set, derived.event) || NeedsAny(derived, failed)) {
      failed[derived.event] = true;
      continue;
    }
    const Amount now = Derived(derived, lengths, counts) / Amount(kGainScale);
    uint64_t& count = counts[derived.event];
    // Less than before, or below 0: the relation does not hold, and Check will say so.
    failed[derived.event] = now < Amount(count);
    if (now <= Amount(count)) continue;
    gained[derived.event] += static_cast<uint64_t>(now) - count;
    count = static_cast<uint64_t>(now);
  }
}

// What the relation leaves an event that is not known.
std::optional<SlotRelations::Amount> SlotRelations::Left(size_t set, const Relation& relation, uint16_t event,
                                                         const SlotLengths& lengths,
                                                         std::span<const uint64_t> counts) const {
  if (Includes(relation, event)) {
    if (relation.kind == Relation::Kind::kAtMost) return std::nullopt;
    if (relation.kind == Relation::Kind::kSum && !IsKnown(set, relation.whole)) return std::nullopt;
    return WholeOf(relation, lengths, counts) - Known(set, relation, counts);
  }
  if (relation.kind == Relation::Kind::kCycles || relation.whole != event) return std::nullopt;
  Amount sum = Known(set, relation, counts);
  for (const uint16_t member : relation.members) {
    if (!IsKnown(set, member)) sum += static_cast<Amount>(MostOf(member, lengths));
  }
  return sum;
}

absl::uint128 SlotRelations::Leave(size_t set, uint16_t event, const SlotLengths& lengths,
                                   std::span<const uint64_t> counts) const {
  Amount least = static_cast<Amount>(MostOf(event, lengths));
  for (size_t i = 0; i < table_->relations.size(); ++i) {
    if (is_off_[i]) continue;
    const auto left = Left(set, table_->relations[i], event, lengths, counts);
    if (left) least = std::min(least, std::max(*left, Amount(0)));
  }
  return static_cast<absl::uint128>(least);
}

}  // namespace sideband::mcu
