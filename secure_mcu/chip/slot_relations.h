// SPDX-License-Identifier: Apache-2.0
//
// What relations say of the counts of one slot: what derived events have gained, how much those that were not counted
// can have gained at most, and whether the relations hold (counter-rotation.md, "Numbers" and "Limits").
//   SlotRelations relations(table);
//   relations.BeginSlot();
//   relations.Saturate(event);                     // its count is too small: it is not known
//   relations.Check(set, lengths, counts);
//   relations.Derive(set, lengths, counts, gained);
//   relations.Leave(set, event, lengths, counts);
#ifndef SIDEBAND_SECURE_MCU_CHIP_SLOT_RELATIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_SLOT_RELATIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"
#include "secure_mcu/chip/rotation_table.h"

namespace sideband::mcu {

// Cycles of a slot, per line: all, and those in which its set was counted. Both have those of the hypervisor, which its
// own time does not.
struct SlotLengths {
  std::vector<uint64_t> enabled, running;
  uint64_t own = 0;
};

// Of one context on one slice. `counts` has the count of every event of the chip in the running cycles of a slot, and
// amounts are in 1/kGainScale. Not thread-safe.
class SlotRelations {
 public:
  explicit SlotRelations(std::shared_ptr<const RotationTable> table);

  // Another slot: no count is saturated.
  void BeginSlot();
  // Counts of the event are missing in this slot: nothing follows from those that are not.
  void Saturate(uint16_t event);

  // How many relations did not hold: they are not used any more.
  size_t broken() const { return broken_; }
  // Of a slot with all its counts, derived ones not needed.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SLOT_RELATIONS_H_
