// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr size_t kBlockHeaderBytes = 28;

absl::Status Malformed(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("snapshot: ", what)); }

void EncodeBlock(const BlockHeader& block, std::span<const uint64_t> counters, ByteWriter& out) {
  out.U16(block.vm);
  out.U16(block.context);
  out.U32(block.generation);
  out.U8(static_cast<uint8_t>(block.state));
  out.U8(0);  // reserved
  out.U16(block.flags);
  out.U32(block.trigger_id);
  out.U64(block.reference_time_ns);
  out.U32(block.sequence);
  for (const uint64_t counter : counters) out.U64(counter);
}

absl::StatusOr<BlockHeader> DecodeBlockHeader(ByteReader& in) {
  BlockHeader block;
  block.vm = in.U16();
  block.context = in.U16();
  block.generation = in.U32();
  const uint8_t state = in.U8();
  if (state > static_cast<uint8_t>(BlockState::kRetired)) return Malformed("unknown block state");
  block.state = static_cast<BlockState>(state);
  in.U8();
  block.flags = in.U16();
  if ((block.flags & ~kFlagsKnown) != 0) return Malformed("unknown block flag");
  block.trigger_id = in.U32();
  block.reference_time_ns = in.U64();
  block.sequence = in.U32();
  return block;
}

absl::Status DecodeBlocks(ByteReader& in, size_t count, Snapshot& snapshot) {
  snapshot.blocks.reserve(count);
  snapshot.counters.reserve(count * snapshot.counters_per_block);
  std::set<std::pair<uint16_t, uint16_t>> scopes;
  for (size_t i = 0; i < count; ++i) {
    SIDEBAND_ASSIGN_OR_RETURN(const BlockHeader block, DecodeBlockHeader(in));
    if (!scopes.emplace(block.vm, block.context).second) return Malformed("two blocks of one scope");
    snapshot.blocks.push_back(block);
    for (uint32_t c = 0; c < snapshot.counters_per_block; ++c) snapshot.counters.push_back(in.U64());
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> FlagNames(uint16_t flags) {
  constexpr const char* kNames[] = {"overflow", "trigger_overrun", "mmu_fault", "estimated"};
  std::vector<std::string> names;
  for (size_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((flags >> bit & 1) != 0) names.push_back(kNames[bit]);
  }
  return names;
}

Bytes EncodeSnapshotStream(const Snapshot& snapshot) {
  ByteWriter out;
  out.U32(snapshot.catalog_hash);
  out.U32(snapshot.trigger_id);
  out.U64(snapshot.reference_time_ns);
  out.U32(static_cast<uint32_t>(snapshot.blocks.size()));
  out.U32(snapshot.counters_per_block);
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) EncodeBlock(snapshot.blocks[i], snapshot.Counters(i), out);
  return EncodeStream({.kind = StreamKind::kSnapshot, .boot_id = snapshot.boot_id, .snapshot_id = snapshot.snapshot_id},
                      out.written());
}

absl::StatusOr<Snapshot> DecodeSnapshotStream(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kSnapshot || stream.header.base_id != 0)
    return Malformed("wrong kind of stream");
  ByteReader in(stream.payload);
  Snapshot snapshot{.boot_id = stream.header.boot_id, .snapshot_id = stream.header.snapshot_id};
  snapshot.catalog_hash = in.U32();
  snapshot.trigger_id = in.U32();
  snapshot.reference_time_ns = in.U64();
  const size_t blocks = in.U32();
  snapshot.counters_per_block = in.U32();
  if (!in.ok()) return Malformed("truncated");
  if (blocks > kBlocksMax || snapshot.counters_per_block > kEventsMax) return Malformed("too large");
  // Checked before anything is allocated, so that a small stream cannot ask for much memory.
  if (in.remaining() != blocks * (kBlockHeaderBytes + 8 * size_t{snapshot.counters_per_block})) {
    return Malformed("length does not match its blocks");
  }
  SIDEBAND_RETURN_IF_ERROR(DecodeBlocks(in, blocks, snapshot));
  return snapshot;
}

}  // namespace sideband::mailbox
