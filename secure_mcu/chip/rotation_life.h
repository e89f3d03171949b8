// SPDX-License-Identifier: Apache-2.0
//
// The rotation of one context on one slice since its plan began: whose turn it is, and what the slots so far say of
// every event (counter-rotation.md, "Rotation in the chip" and "Numbers").
//   RotationLife life(table, order, {.sets = table->sets()});
//   life.BeginResidency();
//   Connect(life.set());
//   life.Saturate(event);
//   life.Derive(lengths, counts, add);             // of the open slot so far
//   life.EndSlot(lengths, counts, /*is_whole=*/true);
//   life.EndResidency();
//   const LeafNumbers numbers = life.Show(open_lengths, open_counts);
//
// An epoch closes between two residencies, after a multiple of as many as there are sets; or between two rounds of a
// residency within which it began, or which alone has had 64 rounds of it; in either case once each set has had 64
// turns. There, and only there, the shares of adaptive turns change: a set's need is the root of the mean of what it
// was and of Σ weight · SlotSpread of its events in the epoch (event_estimate.h); of the first epoch it is the
// latter's.
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_LIFE_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"
#include "secure_mcu/chip/rotation_table.h"
#include "secure_mcu/chip/turn_policy.h"
#include "secure_mcu/pipeline/event_estimate.h"
#include "secure_mcu/pipeline/rotation_order.h"

namespace sideband::mcu {

// Cycles of a slot, per line: all, and those in which its set was counted. Both have those of the hypervisor, which its
// own time does not.
struct SlotLengths {
  std::vector<uint64_t> enabled, running;
  uint64_t own = 0;
};

// The relations of one context on one slice, and their judgement of the counts of one slot: what derived events have
// gained, how much those that were not counted can have gained at most, and whether the relations hold
// (counter-rotation.md, "Numbers" and "Limits"). `counts` has the count of every event of the chip in the running
// cycles of a slot, and amounts are in 1/kGainScale. Not thread-safe.
class SlotRelations {
 public:
  explicit SlotRelations(std::shared_ptr<const RotationTable> table);

  // Another slot: no count is saturated.
  void BeginSlot();
  // Counts of the event are missing in this slot: nothing follows from those that are not.
  void Saturate(uint16_t event);

  // How many relations did not hold: they are not used any more.
  size_t broken() const { return broken_; }
  // Checks a slot with all its counts, derived ones not needed.
  void Check(size_t set, const SlotLengths& lengths, std::span<const uint64_t> counts);

  // Adds to `counts` what derived events have gained beyond what it has, and to `gained` the same.
  void Derive(size_t set, const SlotLengths& lengths, std::span<uint64_t> counts, std::span<uint64_t> gained) const;
  // Whether the event is known in this slot, if it is one of the set: counted, or derived from events that are known,
  // by a relation that is used.
  bool IsKnown(size_t set, uint16_t event) const;

  // The most that an event can gain in the slot's running cycles.
  absl::uint128 MostOf(uint16_t event, const SlotLengths& lengths) const;
  // The same in a slot of which it is not known, less what relations rule out.
  absl::uint128 Leave(size_t set, uint16_t event, const SlotLengths& lengths, std::span<const uint64_t> counts) const;

 private:
  using Amount = absl::int128;
  bool NeedsAny(const DerivedEvent& derived, const std::vector<bool>& events) const;
  void TurnOff(size_t relation);
  bool Holds(size_t set, const mailbox::Relation& relation, const SlotLengths& lengths,
             std::span<const uint64_t> counts) const;
  Amount CyclesOf(const mailbox::Relation& relation, const SlotLengths& lengths) const;
  Amount WholeOf(const mailbox::Relation& relation, const SlotLengths& lengths, std::span<const uint64_t> counts) const;
  Amount Known(size_t set, const mailbox::Relation& relation, std::span<const uint64_t> counts) const;
  Amount Derived(const DerivedEvent& derived, const SlotLengths& lengths, std::span<const uint64_t> counts) const;
  std::optional<Amount> Left(size_t set, const mailbox::Relation& relation, uint16_t event, const SlotLengths& lengths,
                             std::span<const uint64_t> counts) const;

  const std::shared_ptr<const RotationTable> table_;
  std::vector<size_t> order_;  // of relations: what derives comes before what is derived from it
  std::vector<bool> is_off_;   // per relation
  // Per event of the chip: derived, by a relation that is off or from one that is lost.
  std::vector<bool> is_lost_;
  std::vector<bool> is_missing_;  // per event of the chip, in this slot: saturated, or derived from one that is
  size_t broken_ = 0;
};

// The numbers that are shown of a context on a slice. Each number is since its plan began, and none but the variance
// ever falls.
struct LeafNumbers {
  struct Event {
    uint64_t estimate = 0, upper = 0;  // no upper bound: kUnknownNumber
    absl::uint128 variance = 0;
  };
  std::vector<uint64_t> enabled;  // per line that a block reports: all cycles, then per gate group
  std::vector<uint64_t> running;  // the same of each set: set after set
  std::vector<Event> events;      // the table's
};

// Not thread-safe.
class RotationLife {
 public:
  // `order` has as many sets as the scope.
  RotationLife(std::shared_ptr<const RotationTable> table, RotationOrder order, TurnScope scope);

  const RotationTable& table() const { return *table_; }
  // The same as SlotRelations'.
  size_t broken() const { return relations_.broken(); }

  // Only within a residency: the set in turn, and the length of its slot in own cycles.
  size_t set() const { return policy_.set(); }
  uint64_t slot_cycles() const { return policy_.slot_cycles(); }
  // Whether more than one set is ever in turn.
  bool turns() const { return policy_.sets() > 1; }
  void BeginResidency();
  // Adds to `counts`, which has the count of every event of the chip in the open slot's running cycles, what derived
  // events have gained since they were derived last, and to `gained` the same. All cycles of `lengths` are counted.
  void Derive(const SlotLengths& lengths, std::span<uint64_t> counts, std::span<uint64_t> gained) const;
  // In the open slot's running cycles, counts of the event are missing: from now on it has no upper bound.
  void Saturate(uint16_t event);
  // The open slot ends, and the next set's begins. A slot that a switch cuts short is not whole.
  void EndSlot(const SlotLengths& lengths, std::span<const uint64_t> counts, bool is_whole);
  // After EndSlot of its last slot.
  void EndResidency();

  // The periods that the slots so far have shown of the context.
  OwnPeriods Learn() const { return policy_.Learn(); }

  // The sum A of the table's event i, in 2^-16: what is shown is its running maximum, cut to bounds.
  absl::uint128 Sum(size_t i) const { return estimates_[i].Sum(EpochOf(i), ClosedOf(i)); }
  // With an open slot, or with empty lengths.
  LeafNumbers Show(const SlotLengths& open, std::span<const uint64_t> counts) const;

 private:
  // The slots of an event's sets in which it was not known: the relation that derives it was off.
  struct Lost {
    std::vector<uint64_t> running;  // per line
    uint64_t slots = 0;             // with a running cycle of the event's line
    double squares = 0;
  };
  // Cycles of all slots, or of an epoch's.
  struct Times {
    explicit Times(const RotationTable& table);

    std::vector<uint64_t> enabled;               // per line
    std::vector<std::vector<uint64_t>> running;  // per set and line
    std::vector<std::vector<uint64_t>> slots;    // of these with a running cycle
    std::vector<std::vector<double>> squares;    // of the slots' running cycles, added
    std::vector<uint64_t> turns;                 // per set, its slots
    std::map<size_t, Lost> lost;                 // by the event
  };
  void AddSlot(const SlotLengths& lengths, Times& times) const;
  void AddLost(const SlotLengths& lengths, Times& times) const;
  // The running time of the table's event i.
  uint64_t RunningOf(size_t i, const Times& times, size_t line) const;
  SlotTimes EpochOf(size_t i) const;
  ClosedTimes ClosedOf(size_t i) const;

  void CountSlot(const SlotLengths& lengths, std::span<const uint64_t> counts);
  void CheckRelations(const SlotLengths& lengths, std::span<const uint64_t> counts);
  void BoundSlot(const SlotLengths& lengths, std::span<const uint64_t> counts, std::vector<absl::int128>& saved) const;
  absl::uint128 UpperOf(size_t i, const Times& times, const absl::int128& saved, uint64_t counted) const;
  LeafNumbers::Event ShowEvent(size_t i, const Times& times, const absl::int128& saved, uint64_t open_count) const;
  void Evaluate(size_t i) { estimates_[i].Evaluate(EpochOf(i), ClosedOf(i)); }
  IndicatorSample SampleOf(const SlotLengths& lengths, std::span<const uint64_t> counts) const;
  bool HasTurns() const;
  void EndRound();
  void CloseEpoch();
  void Adapt();

  const std::shared_ptr<const RotationTable> table_;
  TurnPolicy policy_;
  std::vector<EventEstimate> estimates_;  // per event of the table
  // In 1/kGainScale: how much less than its gain an event can have had, by relations, in slots without it.
  std::vector<absl::int128> saved_;
  Times all_, epoch_;
  uint64_t ended_ = 0;      // residencies since the last close
  bool is_within_ = false;  // the open epoch is within this residency
  uint64_t rounds_ = 0;     // of this residency, that are over
  // Per set, of the closed epochs: a mean in which each weighs as much as all before it.
  std::vector<double> needs_;  // negative: no closed epoch
  SlotRelations relations_;
  std::vector<bool> is_unbounded_;  // per event of the table
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_LIFE_H_
