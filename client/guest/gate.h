// SPDX-License-Identifier: Apache-2.0
//
// Chooses what is counted of a VM, from inside, by its supervisor's page: enable bits of gate groups (registers.md,
// "What is counted").
//
//   SIDEBAND_RETURN_IF_ERROR(WriteGate(page, {.vector_enable = true, .vector = 0b01}));    // group 0 alone
//   SIDEBAND_ASSIGN_OR_RETURN(const GateValue value, ReadGate(page));
//   SIDEBAND_RETURN_IF_ERROR(WriteContextGate(page, /*context=*/2, {.value = value, .load = true}));
//
// Errors besides those of the page:
//  UNAVAILABLE  there are no such registers: the page is a user's, or the device has no gate groups
//  NOT_FOUND    of WriteContextGate: the VM has no such context
//  ABORTED      other threads of the supervisor always came in between
#ifndef SIDEBAND_CLIENT_GUEST_GATE_H_
#define SIDEBAND_CLIENT_GUEST_GATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/guest/register_page.h"

namespace sideband::client {

// Which gate groups are enabled. Initially all are.
struct GateValue {
  bool master = true;          // false: no group is
  bool vector_enable = false;  // false: every group is, whatever the vector
  uint64_t vector = 0;         // bit g: group g
  bool operator==(const GateValue&) const = default;
};

struct ContextGate {
  GateValue value;
  bool load = false;   // a switch to the context loads the value; else all groups are enabled
  bool store = false;  // a switch from it stores the value
  bool operator==(const ContextGate&) const = default;
};

// The value that the VM has on the page's slice. What the operator does not allow is closed, and what it has pinned is
// open, whatever the value.
absl::StatusOr<GateValue> ReadGate(RegisterPage& page);
absl::Status WriteGate(RegisterPage& page, const GateValue& value);

// The control block of a context, below 65535, which takes effect at the context's next turn. All bits of a context
// that is not there read 0, `master` too; and a control block of zeros is written to it without an error.
absl::StatusOr<ContextGate> ReadContextGate(RegisterPage& page, uint16_t context);
absl::Status WriteContextGate(RegisterPage& page, uint16_t context, const ContextGate& control);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_GUEST_GATE_H_
