// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot_cost.h"

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

constexpr uint64_t kBitTimesPerByte = 9;
// A register write is one message: address, command code, count, value, PEC. START and STOP take one bit time each.
constexpr uint64_t kWriteBytes = 4 + kRegisterBytes;
constexpr uint64_t kWriteEdges = 2;
// A block read is two messages: address, command code, address again, count, block, PEC; with a repeated START.
constexpr uint64_t kReadBytesBeside = 5;
constexpr uint64_t kReadEdges = 3;

// Adds `times` commands, each of which writes and reads that many registers; the status is one of the reads.
void Add(uint64_t times, uint64_t writes, uint64_t reads, SnapshotCost& cost) {
  const uint64_t bytes = writes * kWriteBytes + reads * (kReadBytesBeside + kRegisterBytes);
  cost.commands += times;
  cost.bus_bytes += times * bytes;
  cost.bit_times += times * (kBitTimesPerByte * bytes + writes * kWriteEdges + reads * kReadEdges);
}

uint64_t Quotient(uint64_t dividend, uint64_t divisor) { return (dividend + divisor - 1) / divisor; }

// The length of a stream whose payload ends in `bits` bits.
size_t StreamBytes(size_t bits) {
  return kStreamHeaderBytes + kSnapshotFixedBytes + Quotient(bits, 8) + kStreamCrcBytes;
}

constexpr size_t kSectionHeaderBytes = 2 + 2 + 4;

// A row of increments, of which none has leading zeros.
size_t RowBits(size_t numbers) {
  constexpr size_t kChoiceAndForm = 2 + 3;
  return kChoiceAndForm + Quotient(numbers, 16) * WidthBits(64) + 64 * numbers;
}

// The sizes of a block's numbers, and whether it has them.
size_t ShapeBits(const RotationShape& shape) { return 1 + 1 + 8 + shape.plans * (16 + 8 + 8); }

size_t LayoutBits(const RotationShape& shape) {
  return 1 + 16 + shape.events * (16 + 8) + 8 + shape.plans * (16 + RowBits(shape.events));
}

size_t RotationBytesMin(size_t blocks, size_t whole_blocks, const RotationShape& shape) {
  if (shape.plans == 0) return 0;
  const size_t numbers = 3 * shape.events + (shape.plans + shape.sets) * shape.columns;
  const size_t bits = 1 + (blocks - whole_blocks) + whole_blocks * (2 + ShapeBits(shape) + 64 * numbers);
  return kSectionHeaderBytes + Quotient(bits, 8);
}

size_t RotationBytesMax(size_t blocks, const RotationShape& shape) {
  if (shape.plans == 0) return 0;
  // Rows of plans are shorter together than apart.
  const size_t cycles = shape.columns * (shape.plans * RowBits(1) + shape.sets * (64 + WidthBits(64)));
  const size_t bits = LayoutBits(shape) + blocks * (2 + ShapeBits(shape) + cycles + 3 * RowBits(shape.events));
  // And the statistics' section.
  return kSectionHeaderBytes + Quotient(bits, 8) + kSectionHeaderBytes + 8;
}

// Of a device whose clocks are as expected.
size_t ClockBytesMin(size_t domains) {
  constexpr size_t kDomainBits = 1 + 4 * WidthBits(0);
  return domains == 0 ? 0 : kSectionHeaderBytes + Quotient(1 + domains * kDomainBits, 8);
}

size_t ClockBytesMax(size_t domains) {
  constexpr size_t kNumberOfDomains = 1 + 6;
  // A count of changes has 32 bits, and its difference a sign.
  constexpr size_t kDomainBits = 1 + 3 * (WidthBits(64) + 64) + WidthBits(33) + 33;
  return domains == 0 ? 0 : kSectionHeaderBytes + Quotient(kNumberOfDomains + domains * kDomainBits, 8);
}

// The cost of the windows alone.
SnapshotCost CostOfWindows(size_t stream_bytes, uint32_t window_bytes) {
  SnapshotCost cost{.stream_bytes = stream_bytes, .readable = stream_bytes <= kStreamBytesMax};
  cost.windows = Quotient(stream_bytes, window_bytes);
  cost.bus_bytes = stream_bytes + cost.windows * kReadBytesBeside;
  cost.bit_times = kBitTimesPerByte * cost.bus_bytes + cost.windows * kReadEdges;
  return cost;
}

}  // namespace

SnapshotCost CostOfSnapshot(size_t stream_bytes, uint32_t window_bytes) {
  SnapshotCost cost = CostOfWindows(stream_bytes, window_bytes);
  Add(1, 2, 3, cost);                                                          // LATCH: base; snapshot, length
  Add(Quotient(stream_bytes, WindowSpanBytes(window_bytes)) - 1, 3, 2, cost);  // READ: offset, snapshot; length
  return cost;
}

uint64_t PeekBitTimes(size_t counters, uint32_t window_bytes) {
  SnapshotCost cost = CostOfWindows(PeekStreamBytes(counters), window_bytes);
  Add(1, 3, 1, cost);  // SCOPE: manager, block
  Add(1, 3, 2, cost);  // GO: bitmap; tag
  return cost.bit_times;
}

RotationShape ShapeOf(const Catalog& catalog) {
  RotationShape shape = {.events = RotatedEvents(catalog).size(),
                         .plans = catalog.plans.size(),
                         .columns = 1 + catalog.gate_groups.size()};
  for (const RotationPlan& plan : catalog.plans) shape.sets += plan.sets.size();
  return shape;
}

size_t SnapshotStreamBytesMin(size_t blocks, size_t whole_blocks, size_t counters_per_block,
                              const RotationShape& rotation, size_t clock_domains) {
  constexpr size_t kWholeHeader = 2 + 2 + 16 + 32 + 64 + 32;
  return StreamBytes(1 + (blocks - whole_blocks) + whole_blocks * (kWholeHeader + 64 * counters_per_block)) +
         RotationBytesMin(blocks, whole_blocks, rotation) + ClockBytesMin(clock_domains);
}

size_t SnapshotStreamBytesMax(size_t blocks, size_t counters_per_block, const RotationShape& rotation,
                              size_t clock_domains) {
  constexpr size_t kScope = 16 + 16 + 32;
  constexpr size_t kHeader = 2 + 2 + 1 + 16 + 2 * (WidthBits(32) + 32) + WidthBits(64) + 64 + 1 + 3;
  // The encoder takes groups of sixteen unless another form is shorter.
  const size_t counters = Quotient(counters_per_block, 16) * WidthBits(64) + counters_per_block * 64;
  // The sections of version 2: the headers of blocks and statistics, and six statistics. The 25 bytes of a pulse on a
  // trigger line are beside it, as bookmarks are.
  constexpr size_t kSectionsBytes = 2 * kSectionHeaderBytes + 6 * 8;
  return StreamBytes(1 + blocks * (kScope + kHeader + counters)) + kSectionsBytes + RotationBytesMax(blocks, rotation) +
         ClockBytesMax(clock_domains);
}

}  // namespace sideband::mailbox
