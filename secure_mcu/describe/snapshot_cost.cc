// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/snapshot_cost.h"

#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kClocksPerByte = 9;  // eight bits and an acknowledgement
// A register write is one message: address, command code, count, value, PEC; START and STOP take a clock each.
constexpr uint64_t kWriteBytes = 4 + mailbox::kRegisterBytes;
constexpr uint64_t kWriteEdges = 2;
// A block read is two: address, command code, again the address, count, block, PEC; with a repeated START.
constexpr uint64_t kReadBytesBeside = 5;
constexpr uint64_t kReadEdges = 3;
// A command writes data-in, extended data-in and the command, and reads the status and both again.
constexpr uint64_t kCommandBytes = 3 * kWriteBytes + 3 * (kReadBytesBeside + mailbox::kRegisterBytes);
constexpr uint64_t kCommandEdges = 3 * kWriteEdges + 3 * kReadEdges;

size_t StreamBytes(size_t blocks, size_t events) {
  return mailbox::EncodeSnapshotStream({.counters_per_block = static_cast<uint32_t>(events),
                                        .blocks = std::vector<mailbox::BlockHeader>(blocks),
                                        .counters = std::vector<uint64_t>(blocks * events)})
      .size();
}

uint64_t Quotient(uint64_t dividend, uint64_t divisor) { return (dividend + divisor - 1) / divisor; }

}  // namespace

size_t BlockBytes(size_t events) { return StreamBytes(1, events) - StreamBytes(0, events); }

SnapshotCost CostOfSnapshot(size_t blocks, size_t events) {
  SnapshotCost cost;
  // Blocks are encoded alike, so that a large device's stream need not be made.
  cost.stream_bytes = StreamBytes(0, events) + blocks * BlockBytes(events);
  cost.readable = cost.stream_bytes <= mailbox::kStreamBytesMax;
  cost.commands = 2 + Quotient(cost.stream_bytes, mailbox::kWindowSpanBytes);
  // A span is a whole number of windows.
  cost.windows = Quotient(cost.stream_bytes, mailbox::kWindowBytes);
  cost.bus_bytes = cost.commands * kCommandBytes + cost.stream_bytes + cost.windows * kReadBytesBeside;
  cost.bus_clocks = kClocksPerByte * cost.bus_bytes + cost.commands * kCommandEdges + cost.windows * kReadEdges;
  return cost;
}

}  // namespace sideband::mcu
