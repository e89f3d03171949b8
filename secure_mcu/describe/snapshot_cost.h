// SPDX-License-Identifier: Apache-2.0
//
// What it takes to read all memory blocks over the bus, as the daemon does: LATCH, READ and windows, ACK.
//   const SnapshotCost cost = CostOfSnapshot(blocks, events);
#ifndef SIDEBAND_SECURE_MCU_DESCRIBE_SNAPSHOT_COST_H_
#define SIDEBAND_SECURE_MCU_DESCRIBE_SNAPSHOT_COST_H_

#include <cstddef>
#include <cstdint>

#include "secure_mcu/describe/description.h"

namespace sideband::mcu {

// Header and counters of a memory block, as it is in a snapshot.
size_t BlockBytes(size_t events);

// Without clock stretching and repetitions, and with every command done when its status is first read.
SnapshotCost CostOfSnapshot(size_t blocks, size_t events);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DESCRIBE_SNAPSHOT_COST_H_
