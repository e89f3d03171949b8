// SPDX-License-Identifier: Apache-2.0
//
// The bus cost of reading without errors. Of a snapshot: LATCH, which acknowledges the previous snapshot, and the
// stream's windows, with a READ for each span of sixteen windows except the first. Assumes that each command is
// complete when its status is first read, and that the clock is not stretched.
//   const SnapshotCost cost = CostOfSnapshot(SnapshotStreamBytesMax(blocks, counters), kWindowBytes);
//   cost.bit_times / 100'000.0;    // seconds at 100 kHz
//   PeekBitTimes(1, kWindowBytes);
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_

#include <cstddef>
#include <cstdint>

#include "proto/mailbox/catalog.h"

namespace sideband::mailbox {

struct SnapshotCost {
  size_t stream_bytes = 0;
  bool readable = true;    // not longer than the controller's limit
  uint64_t commands = 0;   // LATCH, READs
  uint64_t windows = 0;    // block reads
  uint64_t bus_bytes = 0;  // with addresses, command codes, counts and PECs
  uint64_t bit_times = 0;  // proto/smbus/transfer.h
};

// `stream_bytes` is at least 1; `window_bytes` is 1 to 255.
SnapshotCost CostOfSnapshot(size_t stream_bytes, uint32_t window_bytes);

// The rotation numbers of each block, if all blocks have all of them.
struct RotationShape {
  size_t events = 0;   // that rotate, or are derived
  size_t plans = 0;    // 0: nothing rotates
  size_t sets = 0;     // of all plans
  size_t columns = 1;  // one, and one for each gate group
};
RotationShape ShapeOf(const Catalog& catalog);

// The shortest stream of a snapshot with `blocks` blocks: nothing has changed since the acknowledged snapshot, but
// `whole_blocks` of them (those of confidential VMs, and then the device's) are always written whole.
size_t SnapshotStreamBytesMin(size_t blocks, size_t whole_blocks, size_t counters_per_block,
                              const RotationShape& rotation = {}, size_t clock_domains = 0);

// The longest stream of a snapshot: no snapshot was acknowledged, and all counters differ.
size_t SnapshotStreamBytesMax(size_t blocks, size_t counters_per_block, const RotationShape& rotation = {},
                              size_t clock_domains = 0);

// The bit times of a peek of `counters` counters of one extend: SCOPE, GO and the stream's windows. The controller
// reads GO's tag, but not the length of the stream, which follows from the question.
uint64_t PeekBitTimes(size_t counters, uint32_t window_bytes);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_COST_H_
