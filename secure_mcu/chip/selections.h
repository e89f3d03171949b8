// SPDX-License-Identifier: Apache-2.0
//
// The selections of a chip, and what each connects: the sources and the counters of its switched units, and the
// meanings of the counts (virtual-counters.md, "Mechanism", 6).
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
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selectable_events.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/unit_level_counter.h"

namespace sideband::mcu {

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
