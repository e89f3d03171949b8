// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/block_decoder.h"
#include "proto/mailbox/block_encoder.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

absl::Status Malformed(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("snapshot: ", what)); }

absl::StatusOr<const Snapshot*> FindBase(const StreamHeader& header, const Snapshot* base) {
  if (header.base_id == 0) return nullptr;
  if (base == nullptr || base->snapshot_id != header.base_id || base->boot_id != header.boot_id) {
    return absl::DataLossError(absl::StrCat("snapshot: relative to snapshot ", header.base_id, ", which is not held"));
  }
  return base;
}

}  // namespace

VmIds ConfidentialVms(const Catalog& catalog) {
  VmIds ids;
  for (const VmInfo& vm : catalog.vms) {
    if (vm.confidential) ids.insert(vm.id);
  }
  return ids;
}

Bytes EncodeSnapshotStream(const Snapshot& snapshot, const Snapshot* base, const VmIds& confidential) {
  ByteWriter out;
  out.U32(snapshot.catalog_hash);
  out.U32(snapshot.trigger_id);
  out.U64(snapshot.reference_time_ns);
  out.U16(static_cast<uint16_t>(snapshot.blocks.size()));
  out.U16(static_cast<uint16_t>(snapshot.counters_per_block));
  out.Raw(EncodeBlocks(snapshot, base, confidential));
  return EncodeStream({.kind = StreamKind::kSnapshot,
                       .framing = Framing::kDelta,
                       .boot_id = snapshot.boot_id,
                       .snapshot_id = snapshot.snapshot_id,
                       .base_id = base == nullptr ? 0 : base->snapshot_id},
                      out.written());
}

absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan bytes, const Snapshot* base) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kSnapshot || stream.header.framing != Framing::kDelta) {
    return Malformed("wrong kind of stream");
  }
  SIDEBAND_ASSIGN_OR_RETURN(base, FindBase(stream.header, base));
  ByteReader in(stream.payload);
  Snapshot snapshot{.boot_id = stream.header.boot_id, .snapshot_id = stream.header.snapshot_id};
  snapshot.catalog_hash = in.U32();
  snapshot.trigger_id = in.U32();
  snapshot.reference_time_ns = in.U64();
  const size_t blocks = in.U16();
  snapshot.counters_per_block = in.U16();
  if (!in.ok()) return Malformed("truncated");
  if (blocks > kBlocksMax || snapshot.counters_per_block > kEventsMax ||
      blocks * snapshot.counters_per_block > kCountersMax) {
    return Malformed("too large");
  }
  if (base != nullptr && base->counters_per_block != snapshot.counters_per_block) {
    return Malformed("has other counters than what it is relative to");
  }
  return DecodeBlocks(stream.payload.subspan(kSnapshotFixedBytes), blocks, base, std::move(snapshot));
}

Snapshot AsBase(Snapshot snapshot, const VmIds& confidential) {
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    if (!IsWrittenWhole(snapshot.blocks[i], confidential)) continue;
    const auto row = snapshot.counters.begin() + static_cast<ptrdiff_t>(i * snapshot.counters_per_block);
    std::fill_n(row, snapshot.counters_per_block, 0);
  }
  return snapshot;
}

}  // namespace sideband::mailbox
