// SPDX-License-Identifier: Apache-2.0
//
// The counters of blocks.
//   CounterValues counters = {12, 0, 7};
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTER_VALUES_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTER_VALUES_H_

#include <cstdint>
#include <vector>

#include "proto/base/secret_memory.h"

namespace sideband::mailbox {

// May contain confidential VMs' counts, so the memory is excluded from core dumps.
using CounterValues = std::vector<uint64_t, SecretAllocator<uint64_t>>;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTER_VALUES_H_
