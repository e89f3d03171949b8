// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/rotation_section.h"
#include "proto/mailbox/sections.h"
#include "proto/mailbox/stream.h"

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

// Of version 2 after the other sections have been decoded into `snapshot`.
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

}  // namespace sideband::mailbox
