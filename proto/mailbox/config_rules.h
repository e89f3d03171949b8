// SPDX-License-Identifier: Apache-2.0
//
// What a change of a device's configuration may not do, whoever makes it (virtual-counters.md, "Who may change what").
// The device refuses it without a reason; a controller that asks here first can say why.
//   SIDEBAND_RETURN_IF_ERROR(CheckChange(actual, desired, /*confidential=*/{3}));
#ifndef SIDEBAND_PROTO_MAILBOX_CONFIG_RULES_H_
#define SIDEBAND_PROTO_MAILBOX_CONFIG_RULES_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"

namespace sideband::mailbox {

// INVALID_ARGUMENT names the VM and the field: anything of a confidential VM but what it may open, whether a VM is
// private, and a selection that the device does not have.
absl::Status CheckChange(const CountingConfig& from, const CountingConfig& to, const std::set<uint16_t>& confidential);

// A confidential VM's control block as others see it: what it may open, and whether it is private.
VmControl Shown(const VmControl& confidential);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CONFIG_RULES_H_
