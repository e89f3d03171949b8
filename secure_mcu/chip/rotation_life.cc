// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_life.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sideband::mcu {
namespace {

using mailbox::Relation;

bool Includes(const Relation& relation, uint16_t event) { return std::ranges::binary_search(relation.members, event); }

// Relations in the order of their checks: a derived event is checked after the events that it is derived from.
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

// The gain of all members together; with kAtMost and kSum the whole must be known.
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

// The gain that the relation leaves an event that is not known.
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

namespace {

// Turns of each set before an epoch may close: the cut slots of its residencies are then a small part.
constexpr uint64_t kTurnsMin = 64;
constexpr double kUnitWeight = 1000;  // the settings have thousandths
// A slot's count that deviates by less than a thousandth is certain: what is left can be the rounding of sums.
constexpr double kSpreadMin = 1e-6;

uint64_t Clamped(const absl::uint128& value) {
  return value > std::numeric_limits<uint64_t>::max() ? mailbox::kUnknownNumber : absl::Uint128Low64(value);
}

}  // namespace

RotationLife::Times::Times(const RotationTable& table)
    : enabled(table.lines.size()),
      running(table.sets(), std::vector<uint64_t>(table.lines.size())),
      slots(running),
      squares(table.sets(), std::vector<double>(table.lines.size())),
      turns(table.sets()) {}

RotationLife::RotationLife(std::shared_ptr<const RotationTable> table, RotationOrder order, TurnScope scope)
    : table_(std::move(table)),
      policy_(table_->settings, table_->instructions.has_value(), std::move(order), std::move(scope)),
      estimates_(table_->events.size()),
      saved_(table_->events.size()),
      all_(*table_),
      epoch_(*table_),
      needs_(table_->sets(), -1),
      relations_(table_),
      is_unbounded_(table_->events.size()) {}

void RotationLife::BeginResidency() {
  policy_.BeginResidency();
  rounds_ = 0;
  if (epoch_.enabled[0] == 0) is_within_ = true;
}

void RotationLife::Derive(const SlotLengths& lengths, std::span<uint64_t> counts, std::span<uint64_t> gained) const {
  relations_.Derive(set(), lengths, counts, gained);
}

void RotationLife::Saturate(uint16_t event) {
  relations_.Saturate(event);
  const auto& gates = table_->lines.running_events;
  for (size_t i = 0; i < is_unbounded_.size(); ++i) {
    const size_t line = table_->events[i].line;
    // Some of the cycles with its gate open are missing, too.
    const bool is_of_gate = line > 0 && line <= gates.size() && gates[line - 1] == event;
    // The event itself, or one that is derived from it: what it gained in this slot is not known, either.
    const uint16_t other = table_->events[i].event;
    const bool is_missing = other == event || (table_->IsCounted(set(), other) && !relations_.IsKnown(set(), other));
    if (is_missing || is_of_gate) is_unbounded_[i] = true;
  }
}

// --- Times ----------------------------------------------------------------------------------------------------------

void RotationLife::AddSlot(const SlotLengths& lengths, Times& times) const {
  const size_t set = policy_.set();
  for (size_t line = 0; line < table_->lines.size(); ++line) {
    times.enabled[line] += lengths.enabled[line];
    const uint64_t running = lengths.running[line];
    times.running[set][line] += running;
    if (running == 0) continue;
    ++times.slots[set][line];
    times.squares[set][line] += static_cast<double>(running) * static_cast<double>(running);
  }
  if (lengths.enabled[0] > 0) ++times.turns[set];
  if (relations_.broken() > 0) AddLost(lengths, times);
}

void RotationLife::AddLost(const SlotLengths& lengths, Times& times) const {
  for (const size_t i : table_->members[set()]) {
    const RotatedEvent& event = table_->events[i];
    if (relations_.IsKnown(set(), event.event)) continue;
    Lost& lost = times.lost[i];
    lost.running.resize(table_->lines.size());
    for (size_t line = 0; line < lost.running.size(); ++line) lost.running[line] += lengths.running[line];
    const uint64_t running = lengths.running[event.line];
    if (running == 0) continue;
    ++lost.slots;
    lost.squares += static_cast<double>(running) * static_cast<double>(running);
  }
}

uint64_t RotationLife::RunningOf(size_t i, const Times& times, size_t line) const {
  uint64_t running = 0;
  for (size_t set = 0; set < table_->sets(); ++set) {
    if (table_->events[i].IsIn(set)) running += times.running[set][line];
  }
  const auto lost = times.lost.find(i);
  return lost == times.lost.end() ? running : running - lost->second.running[line];
}

SlotTimes RotationLife::EpochOf(size_t i) const {
  const RotatedEvent& event = table_->events[i];
  SlotTimes times{.enabled = epoch_.enabled[event.line]};
  for (size_t set = 0; set < table_->sets(); ++set) {
    if (!event.IsIn(set)) continue;
    times.running += epoch_.running[set][event.line];
    times.slots += epoch_.slots[set][event.line];
    times.squares += epoch_.squares[set][event.line];
  }
  if (const auto lost = epoch_.lost.find(i); lost != epoch_.lost.end()) {
    times.running -= lost->second.running[event.line];
    times.slots -= lost->second.slots;
    times.squares -= lost->second.squares;
  }
  return times;
}

ClosedTimes RotationLife::ClosedOf(size_t i) const {
  const size_t line = table_->events[i].line;
  return {.running = RunningOf(i, all_, line) - RunningOf(i, epoch_, line)};
}

// --- Slots ----------------------------------------------------------------------------------------------------------

// The events that are not known in the slot. One whose relation is off is as if it were not in the set.
void RotationLife::BoundSlot(const SlotLengths& lengths, std::span<const uint64_t> counts,
                             std::vector<absl::int128>& saved) const {
  for (const size_t i : table_->related) {
    const RotatedEvent& event = table_->events[i];
    if (relations_.IsKnown(set(), event.event)) continue;
    saved[i] += static_cast<absl::int128>(relations_.MostOf(event.event, lengths));
    saved[i] -= static_cast<absl::int128>(relations_.Leave(set(), event.event, lengths, counts));
  }
}

void RotationLife::CountSlot(const SlotLengths& lengths, std::span<const uint64_t> counts) {
  for (const size_t i : table_->members[set()]) {
    const RotatedEvent& event = table_->events[i];
    // Counts that were derived before their relation was found not to hold have been committed.
    const bool is_known = relations_.IsKnown(set(), event.event);
    estimates_[i].AddSlot(counts[event.event], is_known ? lengths.running[event.line] : 0);
  }
  AddSlot(lengths, all_);
  AddSlot(lengths, epoch_);
  for (const size_t i : table_->members[set()]) Evaluate(i);
}

void RotationLife::EndSlot(const SlotLengths& lengths, std::span<const uint64_t> counts, bool is_whole) {
  if (std::ranges::all_of(lengths.enabled, [](uint64_t cycles) { return cycles == 0; })) return relations_.BeginSlot();
  relations_.Check(set(), lengths, counts);
  BoundSlot(lengths, counts, saved_);
  CountSlot(lengths, counts);
  relations_.BeginSlot();
  // A residency within one cycle of the reference clock counts other clocks' cycles, but had no turn.
  if (lengths.enabled[0] == 0) return;
  policy_.EndSlot(lengths.own, SampleOf(lengths, counts));
  if (is_whole && policy_.is_round_over()) EndRound();
  policy_.BeginSlot();
}

// A long residency also closes an epoch that began before it: the residencies before it are then a part of it that may
// be less than balanced, but a small one.
void RotationLife::EndRound() {
  ++rounds_;
  if ((!is_within_ && rounds_ < kTurnsMin) || !HasTurns()) return;
  CloseEpoch();
  is_within_ = true;
}

IndicatorSample RotationLife::SampleOf(const SlotLengths& lengths, std::span<const uint64_t> counts) const {
  // A slot that ended in its dead cycles has their counts only.
  if (!table_->instructions || lengths.running[0] == 0) return {};
  return {.instructions = counts[*table_->instructions], .cycles = lengths.running[0]};
}

void RotationLife::EndResidency() {
  for (size_t i = 0; i < estimates_.size(); ++i) Evaluate(i);
  policy_.EndResidency();
  ++ended_;
  is_within_ = false;
  if (ended_ % policy_.sets() == 0 && HasTurns()) CloseEpoch();
}

bool RotationLife::HasTurns() const {
  for (size_t set = 0; set < epoch_.turns.size(); ++set) {
    if (policy_.Includes(set) && epoch_.turns[set] < kTurnsMin) return false;
  }
  return true;
}

// Shares change only where an epoch closes anyway, so that none is closed earlier than it may be, and no estimate mixes
// shares. Every event's spread then rests on at least kTurnsMin slots.
void RotationLife::Adapt() {
  if (!policy_.adapts()) return;
  std::vector<double> needs(table_->sets());
  for (size_t i = 0; i < estimates_.size(); ++i) {
    const RotatedEvent& event = table_->events[i];
    const auto weight = table_->settings.weights.find(event.event);
    const double wanted = weight == table_->settings.weights.end() ? 1 : weight->second / kUnitWeight;
    double spread = estimates_[i].SlotSpread(EpochOf(i));
    spread = spread < kSpreadMin ? 0 : wanted * spread;
    for (size_t set = 0; set < needs.size(); ++set) needs[set] += event.IsIn(set) ? spread : 0;
  }
  std::vector<double> of_scope;
  for (size_t set = 0; set < needs.size(); ++set) {
    if (!policy_.Includes(set)) continue;
    needs_[set] = needs_[set] < 0 ? needs[set] : (needs_[set] + needs[set]) / 2;
    of_scope.push_back(std::sqrt(needs_[set]));
  }
  policy_.Adapt(of_scope);
}

void RotationLife::CloseEpoch() {
  Adapt();
  for (size_t i = 0; i < estimates_.size(); ++i) {
    estimates_[i].Close(EpochOf(i), ClosedOf(i));
  }
  epoch_ = Times(*table_);
  ended_ = 0;
}

// --- What is shown --------------------------------------------------------------------------------------------------

absl::uint128 RotationLife::UpperOf(size_t i, const Times& times, const absl::int128& saved, uint64_t counted) const {
  const RotatedEvent& event = table_->events[i];
  absl::int128 unseen = -saved;
  for (const LineGain& gain : event.gains) {
    const uint64_t cycles = times.enabled[gain.line] - RunningOf(i, times, gain.line);
    unseen += static_cast<absl::int128>(absl::uint128(gain.per_cycle) * cycles);
  }
  const bool is_always = RunningOf(i, times, 0) == times.enabled[0];
  // Each residency drops a remainder of what was counted of it, and another of all.
  const uint64_t remainders = is_always ? 0 : event.accumulators * (policy_.residency() + 1);
  const absl::int128 rounded = (unseen + absl::int128(kGainScale - 1)) / absl::int128(kGainScale);
  return absl::uint128(counted) + static_cast<absl::uint128>(rounded) + remainders;
}

LeafNumbers::Event RotationLife::ShowEvent(size_t i, const Times& times, const absl::int128& saved,
                                           uint64_t open_count) const {
  const EventEstimate& estimate = estimates_[i];
  const uint64_t lower = estimate.counted() + open_count;
  const uint64_t upper = is_unbounded_[i] ? mailbox::kUnknownNumber : Clamped(UpperOf(i, times, saved, lower));
  LeafNumbers::Event shown{.upper = upper};
  shown.estimate = std::min(std::max(estimate.highest(), lower), shown.upper);
  // No variable within bounds has a variance above the square of half their distance.
  const double half = static_cast<double>(shown.upper - lower) / 2;
  const double variance = estimate.Variance(EpochOf(i));
  shown.variance = static_cast<absl::uint128>(std::ceil(variance < 0 ? half * half : std::min(variance, half * half)));
  return shown;
}

LeafNumbers RotationLife::Show(const SlotLengths& open, std::span<const uint64_t> counts) const {
  Times times = all_;
  std::vector<absl::int128> saved = saved_;
  const bool has_open = !open.enabled.empty();
  if (has_open) {
    AddSlot(open, times);
    BoundSlot(open, counts, saved);
  }
  LeafNumbers numbers;
  const size_t gated = table_->lines.gated();
  numbers.enabled.assign(times.enabled.begin(), times.enabled.begin() + gated);
  for (const auto& running : times.running) {
    numbers.running.insert(numbers.running.end(), running.begin(), running.begin() + gated);
  }
  for (size_t i = 0; i < estimates_.size(); ++i) {
    const RotatedEvent& event = table_->events[i];
    numbers.events.push_back(ShowEvent(i, times, saved[i], has_open && event.IsIn(set()) ? counts[event.event] : 0));
  }
  return numbers;
}

}  // namespace sideband::mcu
