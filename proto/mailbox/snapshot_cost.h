// SPDX-License-Identifier: Apache-2.0
//
// What reading a snapshot costs on the bus when nothing goes wrong: LATCH, which acknowledges the one before, and the
// stream's windows with a READ for each span of sixteen but the first. Every command is done when its status is first
// read, and nobody stretches the clock.
//   const SnapshotCost cost = CostOfSnapshot(SnapshotStreamBytesMax(blocks, counters), kWindowBytes);
//   cost.bit_times / 100'000.0;    // seconds at 100 kHz
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_

#include <cstddef>
#include <cstdint>

namespace sideband::mailbox {

struct SnapshotCost {
  size_t stream_bytes = 0;
  bool readable = true;    // no longer than a controller accepts
  uint64_t commands = 0;   // LATCH, READs
  uint64_t windows = 0;    // block reads
  uint64_t bus_bytes = 0;  // with addresses, command codes, counts and PECs
  uint64_t bit_times = 0;  // proto/smbus/bit_times.h
};

// A stream of at least a byte in windows of 1 to 255.
SnapshotCost CostOfSnapshot(size_t stream_bytes, uint32_t window_bytes);

// The shortest stream that a snapshot of so many blocks can have: nothing has changed since the acknowledged one, but
// `whole_blocks` of them, those of confidential VMs and then the device's, are written whole all the same.
size_t SnapshotStreamBytesMin(size_t blocks, size_t whole_blocks, size_t counters_per_block);

// The longest stream that a snapshot can have: nothing was acknowledged, and no two counters are alike.
size_t SnapshotStreamBytesMax(size_t blocks, size_t counters_per_block);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_
