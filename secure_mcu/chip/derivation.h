// SPDX-License-Identifier: Apache-2.0
//
// Which events relations determine from others, and which events are therefore counted together.
//   const Derivation derivation = Derive(config.relations, needs, room, turning, absent);
//   derivation.bundles;    // each is whole in a set, or not in it
#ifndef SIDEBAND_SECURE_MCU_CHIP_DERIVATION_H_
#define SIDEBAND_SECURE_MCU_CHIP_DERIVATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/mailbox/event_set.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/counter_needs.h"

namespace sideband::mcu {

// An event that is computed from others, in the slots in which all of these are counted.
struct DerivedEvent {
  uint16_t event = 0;
  size_t relation = 0;  // into PipelineConfig::relations; of kind kCycles, or kSum with the event as the whole or a
                        // member
  bool operator==(const DerivedEvent&) const = default;
};

struct Bundle {
  std::vector<uint16_t> events;  // ascending
  Need need;                     // of those that are counted
};

struct Derivation {
  std::vector<DerivedEvent> events;  // each needs only counted events and those before it
  std::vector<Bundle> bundles;       // of the turning events, each of which is in one; ascending by the first event
};

// The turning events take turns, in sets that have `room`; those that are neither turning nor absent are always
// counted. Relations are valid (relation_rules.h). The event that needs the most counters is derived first, of equal
// ones that of the first relation, and there the whole, then the last member. Nothing is derived that would make a
// bundle too large for `room`.
Derivation Derive(std::span<const mailbox::Relation> relations, const CounterNeeds& needs, const Room& room,
                  const mailbox::EventSet& turning, const mailbox::EventSet& absent);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_DERIVATION_H_
