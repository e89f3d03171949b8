// SPDX-License-Identifier: Apache-2.0
//
// Rules for relations between events, so that what one event gained follows exactly from what others gained in
// the same cycles; part of Validate (pipeline_config.h).
//   const RelationRules rules(config);
//   SIDEBAND_RETURN_IF_ERROR(rules.Check(relation));   // "events 3 and 4 are of different clock domains"
#ifndef SIDEBAND_SECURE_MCU_CHIP_RELATION_RULES_H_
#define SIDEBAND_SECURE_MCU_CHIP_RELATION_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selectable_events.h"

namespace sideband::mcu {

// Immutable, and so thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_RELATION_RULES_H_
