// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot_cost.h"

#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

constexpr uint64_t kBitTimesPerByte = 9;
// A register write is one message: address, command code, count, value, PEC; START and STOP take a bit time each.
constexpr uint64_t kWriteBytes = 4 + kRegisterBytes;
constexpr uint64_t kWriteEdges = 2;
// A block read is two: address, command code, again the address, count, block, PEC; with a repeated START.
constexpr uint64_t kReadBytesBeside = 5;
constexpr uint64_t kReadEdges = 3;

// So many registers that are written and read, the status once among the latter.
void Add(uint64_t times, uint64_t writes, uint64_t reads, SnapshotCost& cost) {
  const uint64_t bytes = writes * kWriteBytes + reads * (kReadBytesBeside + kRegisterBytes);
  cost.commands += times;
  cost.bus_bytes += times * bytes;
  cost.bit_times += times * (kBitTimesPerByte * bytes + writes * kWriteEdges + reads * kReadEdges);
}

uint64_t Quotient(uint64_t dividend, uint64_t divisor) { return (dividend + divisor - 1) / divisor; }

// Of a stream whose payload ends in so many bits.
size_t StreamBytes(size_t bits) {
  return kStreamHeaderBytes + kSnapshotFixedBytes + Quotient(bits, 8) + kStreamCrcBytes;
}

}  // namespace

SnapshotCost CostOfSnapshot(size_t stream_bytes, uint32_t window_bytes) {
  SnapshotCost cost{.stream_bytes = stream_bytes, .readable = stream_bytes <= kStreamBytesMax};
  cost.windows = Quotient(stream_bytes, window_bytes);
  cost.bus_bytes = stream_bytes + cost.windows * kReadBytesBeside;
  cost.bit_times = kBitTimesPerByte * cost.bus_bytes + cost.windows * kReadEdges;
  Add(1, 2, 3, cost);                                                          // LATCH: base; snapshot, length
  Add(Quotient(stream_bytes, WindowSpanBytes(window_bytes)) - 1, 3, 2, cost);  // READ: offset, snapshot; length
  return cost;
}

size_t SnapshotStreamBytesMin(size_t blocks, size_t whole_blocks, size_t counters_per_block) {
  constexpr size_t kWholeHeader = 2 + 2 + 16 + 32 + 64 + 32;
  return StreamBytes(1 + (blocks - whole_blocks) + whole_blocks * (kWholeHeader + 64 * counters_per_block));
}

size_t SnapshotStreamBytesMax(size_t blocks, size_t counters_per_block) {
  constexpr size_t kScope = 16 + 16 + 32;
  constexpr size_t kHeader = 2 + 2 + 1 + 16 + 2 * (WidthBits(32) + 32) + WidthBits(64) + 64 + 1 + 3;
  // In groups of sixteen, which the encoder takes unless others are shorter.
  const size_t counters = Quotient(counters_per_block, 16) * WidthBits(64) + counters_per_block * 64;
  return StreamBytes(1 + blocks * (kScope + kHeader + counters));
}

}  // namespace sideband::mailbox
