// SPDX-License-Identifier: Apache-2.0
//
// The events that the selections of a chip choose among, how many counters each event needs, and what each selection
// connects: the sources and the counters of the switched units, and the meanings of the counts. A switched unit has
// more sources than counters (UlcSpec::is_switched; virtual-counters.md, "Mechanism", 6).
//   const SelectableEvents selectable(config);
//   SIDEBAND_RETURN_IF_ERROR(selectable.Check(sets));
//   selectable.OpenGroups(sets[1]);          // the gate groups that the selection leaves open
//
//   const CounterNeeds needs(config);
//   Room room = needs.AllCounters();
//   if (Fits(needs.Of(event), room)) Take(needs.Of(event), room);
//
//   Selections selections(config);
//   ccu.Connect(selections.MappingOf(/*select=*/1, c));
//   ulc.Connect(selections.SourcesOf(1, c, /*ulc=*/0));
//   reduction.Add(record);                                // by selections.meanings() and record.select
//   SIDEBAND_RETURN_IF_ERROR(selections.Check(sets));
//   selections.Set(sets);                                 // all is flushed; connect again
#ifndef SIDEBAND_SECURE_MCU_CHIP_SELECTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_SELECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/unit_level_counter.h"

namespace sideband::mcu {

// Switched units that are alike: they have one select register for all.
struct SwitchedKind {
  std::string name;  // of the first
  uint32_t counters = 0;
  std::vector<EventShare> sources;  // those that are not masked, in their order
};
std::vector<SwitchedKind> SwitchedKinds(const CcuSpec& ccu);

// Counters per bank of a collection unit: as many as any selection needs, one per distinct meaning that it can have at
// once.
size_t CcuCounters(const CcuSpec& ccu);

// How an event is called in errors.
using EventNamer = std::function<std::string(size_t)>;
std::string EventNumber(size_t event);

// Immutable, and so thread-safe.
class SelectableEvents {
 public:
  // The configuration is valid but for its selections. With a rotation nothing is selectable.
  explicit SelectableEvents(const PipelineConfig& config);

  bool empty() const { return kinds_.empty(); }
  bool Has(size_t event) const { return mailbox::Includes(events_, event); }

  // INVALID_ARGUMENT names an event that is not of this chip or not selectable, a unit with more events than counters,
  // and a gate group of which only a part is selected.
  absl::Status Check(const mailbox::EventSet& selection, const EventNamer& name = EventNumber) const;
  // The same of all, with their numbers, and of more than kSelectionsMax.
  absl::Status Check(std::span<const mailbox::EventSet> selections) const;

  // Bit g: gate group g has a selected event, or none that is selectable. Any other group is closed while the selection
  // holds: it does not run.
  uint64_t OpenGroups(const mailbox::EventSet& selection) const;

 private:
  absl::Status CheckEvents(const mailbox::EventSet& selection, const EventNamer& name) const;
  absl::Status CheckCounters(const mailbox::EventSet& selection) const;
  absl::Status CheckGroups(const mailbox::EventSet& selection, const EventNamer& name) const;

  size_t size_;                              // events of the chip
  mailbox::EventSet events_;                 // those that are selectable
  std::vector<SwitchedKind> kinds_;          // of all collection units
  std::vector<std::vector<size_t>> groups_;  // per gate group, its selectable events
};

using Need = std::map<size_t, uint32_t>;  // counters by the number of the kind; never 0
using Room = std::vector<uint32_t>;       // free counters of each kind

void Add(const Need& need, Need& sum);
bool Fits(const Need& need, const Room& room);
// The need must fit.
void Take(const Need& need, Room& room);

// How many counters of which switched units each event needs. Units that are alike are one kind (SwitchedKind); those
// of slices and those of the device's scope are all listed.
// Immutable, and so thread-safe.
class CounterNeeds {
 public:
  explicit CounterNeeds(const PipelineConfig& config);

  const std::vector<SwitchedKind>& kinds() const { return kinds_; }
  Room AllCounters() const;
  // Empty for an event that is not of a switched unit, and for one beyond the configuration's.
  const Need& Of(size_t event) const;
  bool Has(size_t event) const { return !Of(event).empty(); }
  Need Of(const mailbox::EventSet& events) const;

 private:
  std::vector<SwitchedKind> kinds_;
  std::vector<Need> needs_;  // per event
};

// The first select that is not a selection's, but of a rotation's turn.
inline constexpr uint8_t kTurnSelectFirst = mailbox::kSelectionsMax;

// Not thread-safe.
class Selections {
 public:
  // `config` is valid.
  explicit Selections(const PipelineConfig& config);

  // No unit is switched: every select is as 0.
  bool empty() const { return selectable_.empty(); }
  const std::vector<mailbox::EventSet>& sets() const { return sets_; }
  absl::Status Check(std::span<const mailbox::EventSet> sets) const { return selectable_.Check(sets); }
  // The sets have passed Check. Until the units are connected again, nothing may be counted.
  void Set(std::vector<mailbox::EventSet> sets);
  // Sets the connections of selects from kTurnSelectFirst on (rotation_turns.h); they fit the units.
  void SetTurns(const std::vector<mailbox::EventSet>& turns);

  // Whether a collection unit has switched units.
  bool IsSwitched(size_t ccu) const { return is_switched_[ccu]; }
  // The connections of each select below kSelectionsMax, and of turns; one beyond the sets selects nothing. They are a
  // collection unit's, and one of its unit-level counters' if that is switched. References are valid until the next
  // Set.
  const CounterCollectionUnit::Mapping& MappingOf(uint8_t select, size_t ccu) const {
    return RowOf(select).choices[ccu].mapping;
  }
  const UnitLevelCounter::Sources& SourcesOf(uint8_t select, size_t ccu, size_t ulc) const {
    return RowOf(select).choices[ccu].sources[ulc];
  }
  // The same as SelectableEvents::OpenGroups.
  uint64_t OpenGroups(uint8_t select) const { return RowOf(select).open_groups; }
  std::vector<uint64_t> OpenGroups() const;  // of each selection
  // Changed by Set.
  std::shared_ptr<const EventMeanings> meanings() const { return meanings_; }

 private:
  // The part of a collection unit that a selection connects.
  struct Choice {
    CounterCollectionUnit::Mapping mapping;
    std::vector<UnitLevelCounter::Sources> sources;  // of unit-level counters; of others than switched ones none
  };
  struct Row {
    mailbox::EventSet set;
    std::vector<Choice> choices;  // per collection unit
    UnitMeanings meanings;
    uint64_t open_groups = 0;
  };

  Row RowFor(const mailbox::EventSet& set) const;
  void Connect(const CcuSpec& ccu, Row& row) const;
  const Row& RowOf(uint8_t select) const;
  void ShowMeanings();

  std::vector<CcuSpec> ccus_;
  std::vector<bool> is_switched_;  // per collection unit
  SelectableEvents selectable_;
  std::vector<mailbox::EventSet> sets_;
  std::vector<Row> rows_;   // of the sets, and of none
  std::vector<Row> turns_;  // of a rotation
  std::shared_ptr<EventMeanings> meanings_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SELECTIONS_H_
