// SPDX-License-Identifier: Apache-2.0
//
// What a snapshot's rotation numbers are of: enough of the catalogue to predict them, so that their coding needs no
// catalogue. A snapshot carries it where it differs from its base's.
//   const RotationLayout layout = LayoutOf(catalog);
//   layout.events[i].event;                            // of BlockRotation::events[i]
//   layout.plans[0].sets_of[i];                        // bit s: whether set s of the plan includes it
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_LAYOUT_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {

struct RotationLayout {
  struct Event {
    uint16_t event = 0;  // of the catalogue
    uint8_t gate_group = kNoGateGroup;
    bool operator==(const Event&) const = default;
  };
  struct Plan {
    uint16_t number = 0;
    std::vector<uint64_t> sets_of;  // of each of `events`: bit s tells whether set s includes it
    bool operator==(const Plan&) const = default;
  };
  std::vector<Event> events;  // those that have entries in BlockRotation::events, ascending
  std::vector<Plan> plans;    // ascending by number
  bool operator==(const RotationLayout&) const = default;
};

// The events that have entries in BlockRotation::events: those that the catalogue calls rotated or derived, ascending.
std::vector<uint16_t> RotatedEvents(const Catalog& catalog);

RotationLayout LayoutOf(const Catalog& catalog);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_LAYOUT_H_
