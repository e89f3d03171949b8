// SPDX-License-Identifier: Apache-2.0
//
// Rules for relations between events, and for the rotation of a chip beside those of its units; part of Validate
// (pipeline_config.h).
//   SIDEBAND_RETURN_IF_ERROR(CheckRequestedSettings(settings, config));    // of a plan that is asked for
//   SIDEBAND_RETURN_IF_ERROR(CheckRotation(config));                       // of what the chip boots with
//
//   const RelationRules rules(config);
//   SIDEBAND_RETURN_IF_ERROR(rules.Check(relation));   // "events 3 and 4 are of different clock domains"
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_RULES_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selections.h"

namespace sideband::mcu {

// Rules for relations between events, so that what one event gained follows exactly from what others gained in
// the same cycles. Immutable, and so thread-safe.
class RelationRules {
 public:
  // The configuration is valid but for its relations.
  explicit RelationRules(const PipelineConfig& config);

  // INVALID_ARGUMENT for a relation whose events do not exist, are not ascending or repeated, or are of several clock
  // domains, scopes, gate groups or sets of slices; that has an event which is masked or counted prescaled, since
  // remainders are dropped; that has no member, or of kAtMost not one, or no times; and of kCycles for one that some
  // slice does not count, or that is gated and not of the reference clock.
  absl::Status Check(const mailbox::Relation& relation, const EventNamer& name = EventNumber) const;

 private:
  struct Use {
    std::set<uint32_t> domains;
    std::set<std::optional<uint8_t>> groups;
    std::set<uint8_t> channels;
    bool is_masked = false;
    bool is_prescaled = false;
  };

  absl::Status CheckForm(const mailbox::Relation& relation, const EventNamer& name) const;
  absl::Status CheckEvent(uint16_t event, const EventNamer& name) const;
  absl::Status CheckAlike(uint16_t first, uint16_t second, const EventNamer& name) const;
  absl::Status CheckCycles(uint16_t event, const EventNamer& name) const;

  uint32_t slices_;
  std::vector<Use> uses_;  // per event
};

// Every relation, with its number, and of more than mailbox::kRelationsMax.
absl::Status CheckRelations(const PipelineConfig& config);

// Periods of a switched unit-level counter that a slot lasts at least.
inline constexpr uint64_t kSlotPeriodsMin = 8;
inline constexpr uint64_t kSlotCyclesMax = 1'000'000'000'000;

// The shortest slot that the configuration's switched units allow, in cycles: a period is taken to be of the reference
// clock.
uint64_t ShortestSlot(const PipelineConfig& config);

// INVALID_ARGUMENT names the time or number that is out of range: slots and intervals shorter than ShortestSlot or than
// rotation.dead_cycles + 1, or longer than kSlotCyclesMax, no step or more than mailbox::kRotationStepMax, a threshold
// above 1000, and weights of events that the chip does not have.
absl::Status CheckSettings(const mailbox::RotationSettings& settings, const PipelineConfig& config);
// The same, and of slots and intervals shorter than rotation.slots_min. `config` has a rotation.
absl::Status CheckRequestedSettings(const mailbox::RotationSettings& settings, const PipelineConfig& config);

// Part of CheckRotation, of a configuration with a rotation: INVALID_ARGUMENT for fixed events that are not of switched
// units, and for those that leave no counter of a unit.
absl::Status CheckFixed(const PipelineConfig& config, const EventNamer& name = EventNumber);

// OK without config.rotation. INVALID_ARGUMENT for the above, for selections beside a rotation, for an event with
// inputs of both switched units and others, for fixed events that are not of switched units, for those that leave no
// counter of a unit, and for an event of instructions that is multiplexed.
absl::Status CheckRotation(const PipelineConfig& config, const EventNamer& name = EventNumber);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_RULES_H_
