// SPDX-License-Identifier: Apache-2.0
//
// The turns on every channel of a chip: whose it is, until when, and what the slots have counted (counter-rotation.md,
// "Rotation in the chip"). The chip flushes a channel before each End, tells what it commits, and turns the select
// registers.
//   RotationTurns turns(config, seed, plan);
//   turns.Begin(slice, leaf, instant);                      // a residency
//   ccu.Select(turns.select(slice));
//   chip.AdvanceTo(turns.NextEnd());
//   turns.Saturate(slice, reduction.saturated);            // at each commit
//   turns.AddCounts(slice, reduction.counts);
//   turns.Derive(slice, instant, pending, gained);         // after a flush, before its commit
//   turns.EndSlot(slice, instant);                         // … and after it
//   turns.EndResidency(slice, instant);
//   turns.Show(slice, instant);                            // after a flush: the numbers of the open slot, too
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_TURNS_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_TURNS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/chip/rotation_table.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip/turn_policy.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/rotation_order.h"

namespace sideband::mcu {

// The rotation numbers of all memory blocks: each is the sum of what is shown of the contexts that it has had, those
// that are gone included (counter-rotation.md, "Numbers"). Not thread-safe.
class RotationNumbers {
 public:
  // `events`: those of all plans, whatever their scope.
  explicit RotationNumbers(size_t events) : events_(events) {}

  // Adds the difference of two showings of one context. `indices` are those of its events among all. The numbers of
  // another generation of the block begin at 0.
  void Add(BlockId block, uint32_t generation, uint16_t plan, const LeafNumbers& before, const LeafNumbers& now,
           std::span<const size_t> indices);
  // The plan's cycles are of mailbox::kForgottenPlan from now on. No context is under it.
  void Forget(uint16_t plan);
  // The numbers of a block; of one that has none yet, without parts. An event that has no bound in one of the contexts
  // has none.
  mailbox::BlockRotation Of(BlockId block, uint32_t generation) const;

 private:
  struct Row {
    uint32_t generation = 0;
    std::map<uint16_t, mailbox::RotationPart> parts;  // by the plan's number
    std::vector<LeafNumbers::Event> events;
  };

  const size_t events_;
  std::map<BlockId, Row> rows_;
};

// A block, and whose generation it is.
struct RotationRun {
  BlockId block = 0;
  RotationIdentity identity;
};

// Sets of a plan that each generation counts: all if a pass is of all. At least 1.
size_t SetsOfPass(const mailbox::RotationSettings& settings, size_t sets);

// Which sets each generation of a context counts, and what earlier ones have taught of its periods
// (counter-rotation.md, "Published method"): in profile `two-set` a first run with set 0 alone, then pass after pass of
// the others, the last of set 0 again, from the first again after the last. What was learnt of a context, and its
// passes, are gone with the VM: another VM begins without. Not thread-safe.
class RotationPasses {
 public:
  // Profile `fast`: the block's generation is kept, from its begin, once it has ended; if it has none, the next.
  // `two-set`: the next generation is a first run again.
  void Learn(BlockId block);
  // The pass of the next generation, modulo the plan's passes; later ones count up from it. Without a first run
  // nothing is learnt.
  void ChooseNext(BlockId block, uint32_t pass) { blocks_[block].asked = pass; }

  // Keeps the periods of a life that ended; ignored if its generation was not to be learnt.
  void Keep(BlockId block, uint8_t channel, uint32_t generation, const OwnPeriods& periods);
  // The scope of a life that begins under a plan of `sets` sets. A generation's lives on other channels have the same
  // sets.
  TurnScope ScopeOf(const RotationRun& run, uint8_t channel, uint16_t plan, size_t sets,
                    const mailbox::RotationSettings& settings);

 private:
  struct Block {
    // The identity of the run in turn; none before the first.
    std::optional<RotationIdentity> identity;
    uint16_t plan = 0;
    mailbox::RotationProfile profile = mailbox::RotationProfile::kFast;
    bool is_first_run = false;
    uint32_t pass = 0, next_pass = 0;
    std::optional<uint32_t> learns;  // the generation that is to be learnt
    // The pass of the next run.
    std::optional<uint32_t> asked;
    bool learns_next = false;
    std::map<uint8_t, OwnPeriods> periods;  // by channel
  };
  static void BeginRun(const RotationIdentity& identity, uint16_t plan, const mailbox::RotationSettings& settings,
                       uint32_t passes, Block& block);

  std::map<BlockId, Block> blocks_;
};

// The select registers' numbers for the counter sets of plans: consecutive ones for each plan. Not thread-safe.
class TurnRows {
 public:
  // The lowest rows that are free together; nullopt if there are none.
  std::optional<size_t> Take(size_t rows);
  void Give(size_t first, size_t rows);
  size_t free() const { return mailbox::kRotationSetsMax - used_.count(); }

 private:
  bool IsFree(size_t first, size_t rows) const;

  std::bitset<mailbox::kRotationSetsMax> used_;
};

// The select of what is connected in dead cycles; before it are those of the sets of all plans.
inline constexpr uint8_t kDeadSelect = kTurnSelectFirst + mailbox::kRotationSetsMax;

// Numbers for plans that are added. None is used again: a number that means something else later would let a slow
// reader attribute counts wrongly.
inline constexpr uint32_t kFirstAddedPlan = 2;
inline constexpr uint32_t kAddedPlansMax = mailbox::kForgottenPlan - kFirstAddedPlan;

// How far each clock of a channel has been counted.
struct RotationInstant {
  uint64_t cycle = 0;
  std::vector<uint64_t> domains;  // of clock domains 1, 2, …
};

// The most specific block that a resident's counts go to, with those that have them, too.
struct RotationLeaf {
  BlockId block = 0;
  uint32_t generation = 0;
  std::vector<std::pair<BlockId, uint32_t>> others;  // with their generations
  RotationIdentity identity;                         // of the first life on channel 0
  bool is_confidential = false;                      // the VM is
};

// Not thread-safe.
class RotationTurns {
 public:
  // `config` is valid and has a rotation, and `plan` is one of it.
  RotationTurns(const PipelineConfig& config, const RotationSeed& seed, CounterPlan plan);

  // The events that each turn connects, from kTurnSelectFirst on; the last is kDeadSelect's. Changed by Add.
  const std::vector<mailbox::EventSet>& connected() const { return connected_; }
  // Events that turn, of both scopes, ascending.
  const std::vector<uint16_t>& events() const { return events_; }
  bool is_of_device(uint16_t event) const { return of_device_[event]; }

  // By number: the chip's own, that of device-scope events if any turns, and those added. Plans that no life
  // has chosen any more make room for new ones, the oldest first.
  const std::vector<TurnPlan>& plans() const { return plans_; }
  // Bit g: events of gate group g are multiplexed in the plan, rather than being in all of its sets.
  uint64_t GroupsInTurns(uint16_t number) const;
  // Whether a plan can be chosen: it has not been given up.
  bool IsInForce(uint16_t number) const;
  // Returns the new plan's number, which must be chosen at once; RESOURCE_EXHAUSTED beyond the sets or plans of a
  // device, and after kAddedPlansMax plans. Then it has no effect on what can be read.
  absl::StatusOr<uint16_t> Add(CounterPlan plan, const mailbox::RotationSettings& settings);
  // The plan of a VM or a context from its next residency on.
  void Choose(BlockId block, uint16_t number) { chosen_[block] = number; }
  uint16_t chosen(BlockId block) const;
  // Changes of the resident's time that are kept.
  size_t clock_changes(uint8_t channel) const { return TurnOf(channel).clock.changes(); }
  // The same as RotationPasses'.
  void Learn(BlockId block) { passes_.Learn(block); }
  // OUT_OF_RANGE beyond the passes of the plan that is chosen for the block.
  absl::Status ChoosePass(BlockId block, uint32_t pass);

  // A residency of the channel begins. Without device-scope events that turn, the device has none.
  void Begin(uint8_t channel, const RotationLeaf& leaf, const RotationInstant& at);
  bool is_on(uint8_t channel) const { return TurnOf(channel).life != nullptr; }
  uint8_t select(uint8_t channel) const;
  // The number of sets of the residency's plan; 0 without one.
  size_t sets(uint8_t channel) const;

  // The resident's time stops, and goes on; told ahead as in OwnClock.
  void Stop(uint8_t channel, uint64_t cycle) { TurnOf(channel).clock.Stop(cycle); }
  void Resume(uint8_t channel, uint64_t cycle) { TurnOf(channel).clock.Resume(cycle); }

  // The first cycle at which a slot of a channel ends, or its dead cycles do.
  uint64_t NextEnd() const;
  uint64_t EndOf(uint8_t channel) const;
  // Adds what the channel commits, also if it faults: it was counted.
  void AddCounts(uint8_t channel, std::span<const uint64_t> counts);
  // Events of which counts are missing among those that the channel commits, or has committed, in this slot.
  void Saturate(uint8_t channel, const mailbox::EventSet& events);
  // Adds to `gained`, per event of the chip, what derived events have gained. All counts are in AddCounts or `pending`.
  void Derive(uint8_t channel, const RotationInstant& at, std::span<const uint64_t> pending,
              std::span<uint64_t> gained) const;
  // Ends the open slot, or its dead cycles, and begins the next.
  void EndSlot(uint8_t channel, const RotationInstant& at);
  // Returns whether a relation did not hold.
  bool EndResidency(uint8_t channel, const RotationInstant& at);
  // Brings the numbers of the channel's blocks up to the instant.
  void Show(uint8_t channel, const RotationInstant& at);
  // Brings the numbers of all blocks to the ends of their last slots, as without a flush: none of an open slot.
  void ShowEnded();
  // Whether a relation did not hold in the life in turn.
  bool inconsistent(uint8_t channel) const { return TurnOf(channel).life->life.broken() > 0; }
  // How often a relation ceased to hold, of all lives that the device's numbers include but confidential VMs'.
  uint64_t inconsistencies() const { return inconsistencies_; }

  mailbox::BlockRotation NumbersOf(BlockId block, uint32_t generation) const { return numbers_.Of(block, generation); }

 private:
  struct Life {
    uint32_t generation = 0;
    uint32_t number = 0;  // of the generation's lives on the channel
    bool is_confidential = false;
    size_t first_row = 0;  // of its plan
    RotationLife life;
    LeafNumbers shown;
  };
  struct Turn {
    OwnClock clock;
    RotationLeaf leaf;
    Life* life = nullptr;  // into lives_
    bool is_dead = false;
    uint64_t slot_begin = 0;           // in own time
    RotationInstant begin, alive;      // of the slot, and of its running part
    std::vector<uint64_t> counts;      // of the running part, per event of the chip
    std::vector<uint64_t> dead_gates;  // of the dead part, per gate group
  };

  const Turn& TurnOf(uint8_t channel) const { return turns_[channel == kDeviceChannel ? turns_.size() - 1 : channel]; }
  Turn& TurnOf(uint8_t channel) { return turns_[channel == kDeviceChannel ? turns_.size() - 1 : channel]; }
  void AddPlan(TurnPlan plan, size_t first_row);
  bool IsUsed(uint16_t number) const;
  void GiveUpUnused();
  size_t KnownSets() const;
  void ForgetOne();  // of those that are given up, the oldest
  uint16_t PlanOf(uint8_t channel, const RotationLeaf& leaf) const;
  Life& FindLife(uint8_t channel, const RotationLeaf& leaf);
  void BeginSlot(Turn& turn, const RotationInstant& at);
  void AddOwn(uint8_t channel, std::span<const uint64_t> counts, std::vector<uint64_t>& sums) const;
  SlotLengths LengthsAt(const Turn& turn, const RotationInstant& at, std::span<const uint64_t> counts) const;
  uint64_t PhaseEnd(const Turn& turn) const;
  TurnScope ScopeOf(uint8_t channel, const RotationLeaf& leaf, const RotationTable& table);
  void ShowNumbers(Turn& turn, const SlotLengths& open);
  void EndSlotOf(Turn& turn, const SlotLengths& lengths, bool is_whole);

  const RotationSpec spec_;
  const RotationSeed seed_;
  const PipelineConfig config_;
  const RotationLines lines_;
  const std::vector<uint16_t> events_;
  const std::vector<bool> of_device_;  // per event of the chip
  std::vector<TurnPlan> plans_;
  std::vector<std::optional<size_t>> first_rows_;  // per plan: its first set among connected_; none: given up
  TurnRows rows_;                                  // of connected_
  uint16_t next_number_ = kFirstAddedPlan;
  std::vector<mailbox::EventSet> connected_;
  std::vector<std::vector<std::shared_ptr<const RotationTable>>> tables_;  // per plan and channel, the device's last
  std::vector<std::vector<size_t>> indices_;                               // per channel: of its events among events_
  std::map<BlockId, uint16_t> chosen_;
  RotationPasses passes_;
  std::vector<Turn> turns_;                            // per channel
  std::map<std::pair<BlockId, uint8_t>, Life> lives_;  // by block and channel
  RotationNumbers numbers_;
  uint64_t inconsistencies_ = 0;
  bool shows_ended_ = true;  // no number is of an open slot, and none is missing of an ended one
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_TURNS_H_
