// SPDX-License-Identifier: Apache-2.0
//
// All memory blocks of a device, latched at one trigger, and their stream: only the changes since a snapshot that the
// controller has acknowledged, in variable-width fields; and what it costs on the bus. stream_format.md has the format
// and an example.
//   for (size_t i = 0; i < snapshot.blocks.size(); ++i) Use(snapshot.blocks[i], snapshot.Counters(i));
//   const VmIds whole = VmsWrittenWhole(catalog);
//   const Bytes stream = EncodeSnapshotStream(snapshot, base.get(), whole);
//   SIDEBAND_ASSIGN_OR_RETURN(const Snapshot decoded, DecodeSnapshotStream(stream, base.get()));
//   base = std::make_unique<Snapshot>(AsBase(decoded, whole));   // both ends, once it is acknowledged
//
//   const SnapshotCost cost = CostOfSnapshot(SnapshotStreamBytesMax(blocks, counters), kWindowBytes);
//   cost.bit_times / 100'000.0;    // seconds at 100 kHz
//   PeekBitTimes(1, kWindowBytes);
#ifndef SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_
#define SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {

// The counters of blocks. May contain confidential VMs' counts, so the memory is excluded from core dumps.
using CounterValues = std::vector<uint64_t, SecretAllocator<uint64_t>>;

// The number of bookmarks that a device keeps of a scope, the newest ones. Those of an earlier generation are not kept.
inline constexpr size_t kBookmarksKept = 8;

// An instant of a scope's work that a controller has asked for, with what the scope had counted then (clocks.md,
// "Bookmarks"; stream_format.md, "Bookmarks"). Times are of the reference clock, in nanoseconds since boot, rounded
// down.
struct ServedBookmark {
  uint64_t number = 0;    // of all that the device has served since boot, from 1
  uint16_t block = 0;     // its place in the snapshot
  uint32_t bookmark = 0;  // the controller's own value
  uint64_t asked_ns = 0;
  uint64_t served_ns = 0;  // the instant of the counters
  CounterValues counters;  // what was counted, in the catalogue's order of events
  bool operator==(const ServedBookmark&) const = default;
};

// TRIGGER BOOKMARK's arg2: a check of its operands, which another controller may have overwritten before the command
// (README.md, "Commands of the extension"). 1 to 255; an arg2 of 0 checks nothing.
constexpr uint8_t BookmarkCheck(uint32_t scope, uint32_t bookmark) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
  return static_cast<uint8_t>(1 + ((uint64_t{scope} << 32 | bookmark) * kOdd >> 32) % 255);
}

enum class BlockState : uint8_t { kActive = 0, kIdle = 1, kRetired = 2 };

// Reasons why a block's counters may be inexact, or later than their trigger. The bits are part of the stream format.
enum BlockFlag : uint16_t {
  kFlagOverflow = 1 << 0,        // a 28-bit counter saturated
  kFlagTriggerOverrun = 1 << 1,  // a trigger waited until a bank was drained; no count is lost, but some are late
  kFlagMmuFault = 1 << 2,        // a commit with a wrong binding was dropped
  kFlagEstimated = 1 << 3,       // extrapolated from a part of the time
};
inline constexpr uint16_t kFlagsKnown = 0x000F;
// Only in streams of version 2: a relation between events did not hold (rotation.h), so that bounds may not.
inline constexpr uint16_t kFlagRotationInconsistent = 1 << 5;
// Not in the stream: set by a host on the device's row if the row excludes the counts of confidential VMs.
inline constexpr uint16_t kFlagConfidentialExcluded = 1 << 4;
// Not in the stream either: set by a host on a row with an event that was not counted in every resident cycle
// (virtual-counters.md, "Coverage").
inline constexpr uint16_t kFlagPartial = 1 << 6;

// "overflow", "trigger_overrun", "mmu_fault", "estimated", "confidential_excluded", "rotation_inconsistent", "partial",
// in the order of the bits.
std::vector<std::string> FlagNames(uint16_t flags);

// Size of a block's header in the device's memory; the counters follow, 8 bytes each.
inline constexpr size_t kBlockHeaderBytes = 28;

struct BlockHeader {
  uint16_t vm = kHypervisorVm;
  uint16_t context = kNoContext;
  uint32_t generation = 0;
  BlockState state = BlockState::kIdle;
  uint16_t flags = 0;
  uint32_t trigger_id = 0;         // the last trigger whose counts are included
  uint64_t reference_time_ns = 0;  // of that trigger
  uint32_t sequence = 0;           // number of commits so far
  bool operator==(const BlockHeader&) const = default;
};

// Totals of the counter pipeline since the device's boot.
struct PipelineStatistics {
  uint64_t stall_cycles = 0;        // cycles in which units waited for a full buffer
  uint64_t trigger_overruns = 0;    // triggers that waited until a bank was drained
  uint64_t commit_wait_cycles = 0;  // cycles in which commits waited for the memory
  uint64_t mmu_faults = 0;          // commits with a wrong binding, dropped
  uint64_t switches = 0;            // of contexts, on all slices
  uint64_t switch_cycles = 0;       // of all switches
  // Relations between events that did not hold, each once for a context, a slice and a plan; not in VMs that are
  // private or confidential.
  uint64_t rotation_inconsistencies = 0;
  bool operator==(const PipelineStatistics&) const = default;
};

// The records that a device that seals gives in place of a confidential VM's counters (proto/envelope has the record).
struct SealedBlocks {
  uint16_t vm = 0;
  Bytes record;
  bool operator==(const SealedBlocks&) const = default;
};

struct Snapshot {
  uint64_t boot_id = 0;
  uint32_t snapshot_id = 0;
  uint32_t catalog_hash = 0;  // of the catalogue that describes the blocks and counters
  uint32_t trigger_id = 0;
  uint64_t reference_time_ns = 0;  // time of the latch since boot
  uint32_t counters_per_block = 0;
  // The revision of the configuration that was in force; only of a device with gate groups (counting.h).
  std::optional<uint32_t> config_revision;
  std::optional<PipelineStatistics> statistics;  // only in some snapshots of version 2
  // One for each clock domain of the catalogue, only of version 2; none of a clock that stood still.
  std::vector<std::optional<ClockReading>> clocks;
  // Only of version 2, and of a device that shares a trigger line; none before the first pulse.
  std::optional<LinePulse> line_pulse;
  std::vector<BlockHeader> blocks;
  std::vector<BlockRotation> rotation;  // one for each block; none of a device without rotation
  RotationLayout layout;                // what they are of; empty without them
  // Bookmarks that the device keeps, ascending by number, only of version 2; decoded, those that the base does not
  // have.
  std::vector<ServedBookmark> bookmarks;
  std::vector<SealedBlocks> sealed;  // ascending by VM, only of a device that seals
  CounterValues counters;            // block after block, counters_per_block each, in the catalogue's order of events

  std::span<const uint64_t> Counters(size_t block) const {
    return std::span(counters).subspan(block * counters_per_block, counters_per_block);
  }
  bool operator==(const Snapshot&) const = default;
};

// The maximum number of counters in a snapshot, and of rotation numbers. Streams with more are rejected: a small stream
// could otherwise claim much memory.
inline constexpr size_t kCountersMax = size_t{1} << 23;
inline constexpr size_t kBlocksMax = 1 + kVmsMax + kContextsMax + kSlicesMax;

// The block of the hypervisor's work on the slice that its context names (HostBlockInfo): a part of the device's block,
// as VMs' blocks are.
constexpr bool IsHostBlock(const BlockHeader& block) {
  return block.vm == kHypervisorVm && block.context != kNoContext;
}

// IDs of the VMs whose blocks are always written whole, since their size in a stream must not depend on their counts:
// those of confidential VMs, and the hypervisor's, thus the device's block, beside one that is not private.
using VmIds = std::set<uint16_t>;
VmIds VmsWrittenWhole(const Catalog& catalog);

// Size of a snapshot's payload before its bits.
inline constexpr size_t kSnapshotFixedBytes = 4 + 4 + 8 + 2 + 2;

// Returns a whole stream, frame included. With a base, which must be of the same boot, an unchanged block costs one
// bit; without a base, everything is written. Blocks of the VMs in `whole` are always written whole, in a fixed width.
// `framing` is kDelta for version 1, kSections for version 2. The latter has the statistics, if there are any, in
// snapshots without a base and in those whose ID is a multiple of kStatisticsInterval.
Bytes EncodeSnapshotStream(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole,
                           Framing framing = Framing::kDelta);
inline constexpr uint32_t kStatisticsInterval = 16;

// `stream` comes from an untrusted peer; `base` is the snapshot that the controller last acknowledged, or null.
// DATA_LOSS if the frame is damaged (DecodeStream) or the stream is relative to a snapshot other than `base`.
// INVALID_ARGUMENT for malformed content: wrong kind, truncated, bits left over, more than kBlocksMax blocks, more than
// kEventsMax counters in each or kCountersMax in total, unknown state or flag, several blocks of one scope, malformed
// sections (sections.h), and malformed rotation numbers (as many at most as counters, rotation_section.h). The flag
// kFlagRotationInconsistent is known in framing kSections only. DATA_LOSS for malformed clocks,
// bookmarks and sealed records (sections.h).
// A stream of another framing than `framing`, if that is given, is malformed, too.
absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan stream, const Snapshot* base,
                                              std::optional<Framing> framing = std::nullopt);

// The part of a snapshot that both ends keep as the base of the next: everything except the counters and rotation
// numbers of blocks that are always written whole, those of bookmarks, and sealed records but for their first bytes,
// which are not needed.
Snapshot AsBase(Snapshot snapshot, const VmIds& whole);

// The bus cost of reading without errors. A snapshot takes LATCH, which acknowledges the previous snapshot, and the
// stream's windows, with a READ for each span of sixteen windows except the first. It is assumed that each command is
// complete when its status is first read, and that the clock is not stretched.
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

#endif  // SIDEBAND_PROTO_MAILBOX_SNAPSHOT_H_
