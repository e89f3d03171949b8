// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/rotation_section.h"
#include "proto/mailbox/sections.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

absl::StatusOr<const Snapshot*> FindBase(const StreamHeader& header, const Snapshot* base) {
  if (header.base_id == 0) return nullptr;
  if (base == nullptr || base->snapshot_id != header.base_id || base->boot_id != header.boot_id) {
    return absl::DataLossError(absl::StrCat("snapshot: relative to snapshot ", header.base_id, ", which is not held"));
  }
  return base;
}

Bytes EncodeStatistics(const PipelineStatistics& statistics) {
  ByteWriter out;
  out.U64(statistics.stall_cycles);
  out.U64(statistics.trigger_overruns);
  out.U64(statistics.commit_wait_cycles);
  out.U64(statistics.mmu_faults);
  out.U64(statistics.switches);
  out.U64(statistics.switch_cycles);
  return std::move(out).Take();
}

absl::StatusOr<PipelineStatistics> DecodeStatistics(ByteSpan payload) {
  ByteReader in(payload);
  PipelineStatistics statistics;
  statistics.stall_cycles = in.U64();
  statistics.trigger_overruns = in.U64();
  statistics.commit_wait_cycles = in.U64();
  statistics.mmu_faults = in.U64();
  statistics.switches = in.U64();
  statistics.switch_cycles = in.U64();
  if (!in.ok() || in.remaining() != 0) return MalformedSnapshot("statistics of a wrong length");
  return statistics;
}

absl::StatusOr<uint64_t> DecodeRotationStatistics(ByteSpan payload) {
  if (payload.size() != sizeof(uint64_t)) return MalformedSnapshot("rotation statistics of a wrong length");
  return ByteReader(payload).U64();
}

// Most snapshots lack the statistics: they are of interest over minutes, and would cost 2 % of a quiet stream.
bool HasStatistics(const Snapshot& snapshot, const Snapshot* base) {
  return snapshot.statistics && (base == nullptr || snapshot.snapshot_id % kStatisticsInterval == 0);
}

const std::vector<SealedBlocks>& SealedOf(const Snapshot* base) {
  static const std::vector<SealedBlocks> kNone;
  return base == nullptr ? kNone : base->sealed;
}

void AppendSections(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole, ByteWriter& out) {
  AppendSection(SnapshotSection::kBlocks, EncodeBlocks(snapshot, base, whole, Forms::kProportional), out);
  if (!snapshot.clocks.empty()) AppendSection(SnapshotSection::kClocks, EncodeClocks(snapshot, base), out);
  if (!snapshot.rotation.empty()) {
    AppendSection(SnapshotSection::kRotation, EncodeRotation(snapshot, base, whole), out);
  }
  if (snapshot.config_revision) {
    ByteWriter revision;
    revision.U32(*snapshot.config_revision);
    AppendSection(SnapshotSection::kConfigRevision, revision.written(), out);
  }
  const Bytes bookmarks = EncodeBookmarks(snapshot, base, whole);
  if (!bookmarks.empty()) AppendSection(SnapshotSection::kBookmarks, bookmarks, out);
  const Bytes pulse = EncodeLinePulse(snapshot, base);
  if (!pulse.empty()) AppendSection(SnapshotSection::kTriggerLine, pulse, out);
  if (!snapshot.sealed.empty()) {
    AppendSection(SnapshotSection::kSealedRecords, EncodeSealed(snapshot.sealed, SealedOf(base)), out);
  }
  if (!HasStatistics(snapshot, base)) return;
  AppendSection(SnapshotSection::kPipelineStatistics, EncodeStatistics(*snapshot.statistics), out);
  if (snapshot.statistics->rotation_inconsistencies == 0) return;
  ByteWriter rotation;
  rotation.U64(snapshot.statistics->rotation_inconsistencies);
  AppendSection(SnapshotSection::kRotationStatistics, rotation.written(), out);
}

// The bits of the blocks, and of what needs them to be decoded, if there is any.
struct SnapshotBits {
  ByteSpan blocks;
  std::optional<ByteSpan> rotation = std::nullopt;
  std::optional<ByteSpan> bookmarks = std::nullopt;
};

// The blocks' bits; of version 2 after the other sections have been decoded into `snapshot`.
absl::StatusOr<SnapshotBits> BitsOf(const Stream& stream, const Snapshot* base, Snapshot& snapshot) {
  const ByteSpan rest = stream.payload.subspan(kSnapshotFixedBytes);
  if (stream.header.framing == Framing::kDelta) return SnapshotBits{rest};
  SIDEBAND_ASSIGN_OR_RETURN(const auto sections, SplitSections(rest, kSnapshotSections));
  if (const ByteSpan* const payload = FindSection(sections, SnapshotSection::kConfigRevision)) {
    if (payload->size() != sizeof(uint32_t)) return MalformedSnapshot("a revision of a wrong length");
    snapshot.config_revision = ByteReader(*payload).U32();
  }
  if (const ByteSpan* const payload = FindSection(sections, SnapshotSection::kPipelineStatistics)) {
    SIDEBAND_ASSIGN_OR_RETURN(snapshot.statistics, DecodeStatistics(*payload));
  }
  if (const ByteSpan* const payload = FindSection(sections, SnapshotSection::kRotationStatistics)) {
    if (!snapshot.statistics) return MalformedSnapshot("rotation statistics without the pipeline's");
    SIDEBAND_ASSIGN_OR_RETURN(snapshot.statistics->rotation_inconsistencies, DecodeRotationStatistics(*payload));
  }
  if (const ByteSpan* const payload = FindSection(sections, SnapshotSection::kClocks)) {
    SIDEBAND_RETURN_IF_ERROR(DecodeClocks(*payload, base, snapshot));
  }
  SIDEBAND_RETURN_IF_ERROR(DecodeLinePulse(FindSection(sections, SnapshotSection::kTriggerLine), base, snapshot));
  if (const ByteSpan* const payload = FindSection(sections, SnapshotSection::kSealedRecords)) {
    SIDEBAND_ASSIGN_OR_RETURN(snapshot.sealed, DecodeSealed(*payload, SealedOf(base)));
  }
  SnapshotBits bits{*FindSection(sections, SnapshotSection::kBlocks)};
  if (const ByteSpan* const rotation = FindSection(sections, SnapshotSection::kRotation)) bits.rotation = *rotation;
  if (const ByteSpan* const served = FindSection(sections, SnapshotSection::kBookmarks)) bits.bookmarks = *served;
  return bits;
}

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

// All clocks are as expected.
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

std::vector<std::string> FlagNames(uint16_t flags) {
  constexpr std::pair<uint16_t, const char*> kNames[] = {{kFlagOverflow, "overflow"},
                                                         {kFlagTriggerOverrun, "trigger_overrun"},
                                                         {kFlagMmuFault, "mmu_fault"},
                                                         {kFlagEstimated, "estimated"},
                                                         {kFlagConfidentialExcluded, "confidential_excluded"},
                                                         {kFlagRotationInconsistent, "rotation_inconsistent"},
                                                         {kFlagPartial, "partial"}};
  std::vector<std::string> names;
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) != 0) names.push_back(name);
  }
  return names;
}

VmIds VmsWrittenWhole(const Catalog& catalog) {
  VmIds ids;
  for (const VmInfo& vm : catalog.vms) {
    if (!vm.confidential) continue;
    ids.insert(vm.id);
    // The device's counts include those of the VM and would reveal them.
    if (!vm.is_private) ids.insert(kHypervisorVm);
  }
  return ids;
}

Bytes EncodeSnapshotStream(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole, Framing framing) {
  ByteWriter out;
  out.U32(snapshot.catalog_hash);
  out.U32(snapshot.trigger_id);
  out.U64(snapshot.reference_time_ns);
  out.U16(static_cast<uint16_t>(snapshot.blocks.size()));
  out.U16(static_cast<uint16_t>(snapshot.counters_per_block));
  if (framing == Framing::kSections) {
    AppendSections(snapshot, base, whole, out);
  } else {
    out.Raw(EncodeBlocks(snapshot, base, whole, Forms::kAsBefore));
  }
  return EncodeStream({.kind = StreamKind::kSnapshot,
                       .framing = framing,
                       .boot_id = snapshot.boot_id,
                       .snapshot_id = snapshot.snapshot_id,
                       .base_id = base == nullptr ? 0 : base->snapshot_id},
                      out.written());
}

absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan bytes, const Snapshot* base, std::optional<Framing> framing) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kSnapshot || stream.header.framing == Framing::kPlain) {
    return MalformedSnapshot("wrong kind of stream");
  }
  if (framing && stream.header.framing != *framing) return MalformedSnapshot("of another version of the extension");
  SIDEBAND_ASSIGN_OR_RETURN(base, FindBase(stream.header, base));
  ByteReader in(stream.payload);
  Snapshot snapshot{.boot_id = stream.header.boot_id, .snapshot_id = stream.header.snapshot_id};
  snapshot.catalog_hash = in.U32();
  snapshot.trigger_id = in.U32();
  snapshot.reference_time_ns = in.U64();
  const size_t blocks = in.U16();
  snapshot.counters_per_block = in.U16();
  if (!in.ok()) return MalformedSnapshot("truncated");
  // Checked before memory is allocated for the blocks.
  if (blocks > kBlocksMax || snapshot.counters_per_block > kEventsMax ||
      blocks * snapshot.counters_per_block > kCountersMax) {
    return MalformedSnapshot("too large");
  }
  if (base != nullptr && base->counters_per_block != snapshot.counters_per_block) {
    return MalformedSnapshot("has other counters than the snapshot it is relative to");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const SnapshotBits bits, BitsOf(stream, base, snapshot));
  const Forms forms = stream.header.framing == Framing::kDelta ? Forms::kAsBefore : Forms::kProportional;
  SIDEBAND_ASSIGN_OR_RETURN(snapshot, DecodeBlocks(bits.blocks, blocks, base, std::move(snapshot), forms));
  if (bits.rotation) SIDEBAND_RETURN_IF_ERROR(DecodeRotation(*bits.rotation, base, snapshot));
  if (bits.bookmarks) SIDEBAND_RETURN_IF_ERROR(DecodeBookmarks(*bits.bookmarks, snapshot));
  return snapshot;
}

Snapshot AsBase(Snapshot snapshot, const VmIds& whole) {
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    if (!IsWrittenWhole(snapshot.blocks[i], whole)) continue;
    // Whole blocks do not refer to their base's counters, so confidential counts need not be kept.
    const auto row = snapshot.counters.begin() + static_cast<ptrdiff_t>(i * snapshot.counters_per_block);
    std::fill_n(row, snapshot.counters_per_block, 0);
    if (!snapshot.rotation.empty()) snapshot.rotation[i] = {};
  }
  for (ServedBookmark& served : snapshot.bookmarks) served.counters.clear();
  for (SealedBlocks& sealed : snapshot.sealed) {
    sealed.record.resize(std::min(sealed.record.size(), kSealedPrefixBytes));
  }
  return snapshot;
}

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
