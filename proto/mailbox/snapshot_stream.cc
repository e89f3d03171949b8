// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot_stream.h"

#include <string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_family.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr uint32_t kScopeBits = 16 + 16 + 32;
constexpr uint32_t kStateBits = 2;
constexpr uint32_t kFlagsBits = 16;
constexpr uint32_t kCounterBits = 64;

absl::Status Malformed(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("snapshot: ", what)); }

bool SameScope(const BlockHeader& a, const BlockHeader& b) {
  return a.vm == b.vm && a.context == b.context && a.generation == b.generation;
}

bool IsWrittenWhole(const BlockHeader& block, const VmIds& confidential) {
  return block.vm == kHypervisorVm ? !confidential.empty() : confidential.contains(block.vm);
}

// What a block is relative to: the base's of its scope, or nothing but zeros.
struct BaseBlock {
  const BlockHeader* header = nullptr;
  std::span<const uint64_t> counters;

  uint64_t counter(size_t i) const { return header == nullptr ? 0 : counters[i]; }
};

// The blocks of a snapshot beside those that they are relative to.
class Bases {
 public:
  Bases(std::span<const BlockHeader> blocks, const Snapshot* base)
      : base_(base),
        same_(base == nullptr ? std::vector(blocks.size(), BlockFamily::kNone) : SameBlocks(blocks, base->blocks)) {}

  BaseBlock Of(size_t block) const {
    if (same_[block] == BlockFamily::kNone) return {};
    return {&base_->blocks[same_[block]], base_->Counters(same_[block])};
  }

 private:
  const Snapshot* const base_;
  const std::vector<size_t> same_;
};

// --- Encoding -------------------------------------------------------------------------------------------------------

class Encoder {
 public:
  Encoder(const Snapshot& snapshot, const Snapshot* base, const VmIds& confidential)
      : snapshot_(snapshot), base_(base), confidential_(confidential), bases_(snapshot.blocks, base) {
    TakeDeltas();
    AddUpDeltas();
  }

  Bytes Encode() && {
    WriteList();
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) WriteBlock(i);
    return std::move(out_).Take();
  }

 private:
  using Counters = std::vector<uint64_t, WipingAllocator<uint64_t>>;

  std::span<uint64_t> RowOf(Counters& rows, size_t block) const {
    return std::span(rows).subspan(block * snapshot_.counters_per_block, snapshot_.counters_per_block);
  }

  void TakeDeltas() {
    deltas_.resize(snapshot_.counters.size());
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) {
      const BaseBlock base = bases_.Of(i);
      const auto counters = snapshot_.Counters(i);
      const auto deltas = RowOf(deltas_, i);
      for (size_t c = 0; c < counters.size(); ++c) deltas[c] = counters[c] - base.counter(c);
    }
  }

  void AddUpDeltas() {
    sums_.resize(deltas_.size());
    const BlockFamily family(snapshot_.blocks);
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) {
      if (family.parent(i) == BlockFamily::kNone) continue;
      const auto deltas = RowOf(deltas_, i);
      const auto sums = RowOf(sums_, family.parent(i));
      for (size_t c = 0; c < deltas.size(); ++c) sums[c] += deltas[c];
    }
  }

  void WriteList() {
    const bool same = base_ != nullptr && std::equal(snapshot_.blocks.begin(), snapshot_.blocks.end(),
                                                     base_->blocks.begin(), base_->blocks.end(), SameScope);
    out_.Bit(same);
    if (same) return;
    for (const BlockHeader& block : snapshot_.blocks) {
      out_.Bits(block.vm, 16);
      out_.Bits(block.context, 16);
      out_.Bits(block.generation, 32);
    }
  }

  void WriteBlock(size_t i) {
    const BlockHeader& block = snapshot_.blocks[i];
    if (IsWrittenWhole(block, confidential_)) return WriteWhole(block, snapshot_.Counters(i));
    const BaseBlock base = bases_.Of(i);
    const auto deltas = RowOf(deltas_, i);
    const bool changed = base.header == nullptr || *base.header != block ||
                         std::any_of(deltas.begin(), deltas.end(), [](uint64_t delta) { return delta != 0; });
    out_.Bit(changed);
    if (!changed) return;
    out_.Bit(false);
    WriteHeader(block, base.header == nullptr ? BlockHeader{} : *base.header);
    WriteDeltas(deltas, RowOf(sums_, i), base.counters);
  }

  void WriteWhole(const BlockHeader& block, std::span<const uint64_t> counters) {
    out_.Bit(true);
    out_.Bit(true);
    out_.Bits(static_cast<uint8_t>(block.state), kStateBits);
    out_.Bits(block.flags, kFlagsBits);
    out_.Bits(block.trigger_id, 32);
    out_.Bits(block.reference_time_ns, 64);
    out_.Bits(block.sequence, 32);
    for (const uint64_t counter : counters) out_.Bits(counter, kCounterBits);
  }

  void WriteHeader(const BlockHeader& block, const BlockHeader& base) {
    out_.Bits(static_cast<uint8_t>(block.state), kStateBits);
    out_.Bit(block.flags != base.flags);
    if (block.flags != base.flags) out_.Bits(block.flags, kFlagsBits);
    out_.Number(static_cast<uint32_t>(snapshot_.trigger_id - block.trigger_id));
    out_.Number(snapshot_.reference_time_ns - block.reference_time_ns);
    out_.Number(static_cast<uint32_t>(block.sequence - base.sequence));
  }

  // As they are, or less what the block's children make up, whichever is shorter.
  void WriteDeltas(std::span<const uint64_t> deltas, std::span<const uint64_t> sums, std::span<const uint64_t> before) {
    Counters beyond(deltas.begin(), deltas.end());
    for (size_t c = 0; c < deltas.size(); ++c) beyond[c] -= sums[c];
    const bool derived = CountersBits(beyond, before) < CountersBits(deltas, before);
    out_.Bit(derived);
    EncodeCounters(derived ? std::span<const uint64_t>(beyond) : deltas, before, out_);
  }

  const Snapshot& snapshot_;
  const Snapshot* const base_;
  const VmIds& confidential_;
  const Bases bases_;
  Counters deltas_;  // to the base, modulo 2^64
  Counters sums_;    // of the children's deltas
  BitWriter out_;
};

// --- Decoding -------------------------------------------------------------------------------------------------------

class Decoder {
 public:
  // The snapshot has all but its blocks.
  Decoder(ByteSpan bits, const Snapshot* base, Snapshot snapshot)
      : in_(bits), base_(base), snapshot_(std::move(snapshot)) {}
  // What was read of a stream that turned out to make no sense does not stay behind.
  ~Decoder() {
    // Without a first counter there is no address to wipe, either.
    if (!snapshot_.counters.empty()) {
      explicit_bzero(snapshot_.counters.data(), snapshot_.counters.size() * sizeof(uint64_t));
    }
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  absl::StatusOr<Snapshot> Decode(size_t blocks) && {
    SIDEBAND_RETURN_IF_ERROR(ReadList(blocks));
    const Bases bases(snapshot_.blocks, base_);
    snapshot_.counters.resize(snapshot_.blocks.size() * snapshot_.counters_per_block);
    forms_.resize(snapshot_.blocks.size(), Form::kDelta);
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) SIDEBAND_RETURN_IF_ERROR(ReadBlock(i, bases.Of(i)));
    if (!in_.ok()) return Malformed("truncated");
    if (!in_.AtEnd()) return Malformed("bits after the end");
    AddUp(bases);
    return std::move(snapshot_);
  }

 private:
  // What a block's row holds until AddUp: counters, deltas to the base, or deltas beyond the children's.
  enum class Form : uint8_t { kWhole, kDelta, kDerived };

  std::span<uint64_t> Row(size_t block) {
    return std::span(snapshot_.counters).subspan(block * snapshot_.counters_per_block, snapshot_.counters_per_block);
  }

  absl::Status ReadList(size_t blocks) {
    if (in_.Bit()) {
      if (base_ == nullptr || base_->blocks.size() != blocks) return Malformed("the blocks of no snapshot known here");
      snapshot_.blocks = base_->blocks;
      return absl::OkStatus();
    }
    if (blocks * kScopeBits > in_.remaining()) return Malformed("truncated");
    std::set<std::pair<uint16_t, uint16_t>> scopes;
    for (size_t i = 0; i < blocks; ++i) {
      BlockHeader& block = snapshot_.blocks.emplace_back();
      block.vm = static_cast<uint16_t>(in_.Bits(16));
      block.context = static_cast<uint16_t>(in_.Bits(16));
      block.generation = static_cast<uint32_t>(in_.Bits(32));
      if (!scopes.emplace(block.vm, block.context).second) return Malformed("two blocks of one scope");
    }
    return absl::OkStatus();
  }

  absl::Status ReadBlock(size_t i, const BaseBlock& base) {
    BlockHeader& block = snapshot_.blocks[i];
    if (!in_.Bit()) {
      if (base.header == nullptr) return Malformed("an unchanged block that was not there before");
      block = *base.header;
      return absl::OkStatus();
    }
    const bool whole = in_.Bit();
    SIDEBAND_RETURN_IF_ERROR(whole ? ReadWholeHeader(block)
                                   : ReadHeader(base.header == nullptr ? BlockHeader{} : *base.header, block));
    return whole ? ReadWhole(i) : ReadDeltas(i, base);
  }

  absl::Status ReadState(BlockHeader& block) {
    const auto state = static_cast<uint8_t>(in_.Bits(kStateBits));
    if (state > static_cast<uint8_t>(BlockState::kRetired)) return Malformed("unknown block state");
    block.state = static_cast<BlockState>(state);
    return absl::OkStatus();
  }

  absl::Status ReadFlags(BlockHeader& block) {
    block.flags = static_cast<uint16_t>(in_.Bits(kFlagsBits));
    return (block.flags & ~kFlagsKnown) == 0 ? absl::OkStatus() : Malformed("unknown block flag");
  }

  absl::Status ReadWholeHeader(BlockHeader& block) {
    SIDEBAND_RETURN_IF_ERROR(ReadState(block));
    SIDEBAND_RETURN_IF_ERROR(ReadFlags(block));
    block.trigger_id = static_cast<uint32_t>(in_.Bits(32));
    block.reference_time_ns = in_.Bits(64);
    block.sequence = static_cast<uint32_t>(in_.Bits(32));
    return absl::OkStatus();
  }

  absl::Status ReadHeader(const BlockHeader& base, BlockHeader& block) {
    SIDEBAND_RETURN_IF_ERROR(ReadState(block));
    block.flags = base.flags;
    if (in_.Bit()) SIDEBAND_RETURN_IF_ERROR(ReadFlags(block));
    block.trigger_id = snapshot_.trigger_id - static_cast<uint32_t>(in_.Number());
    block.reference_time_ns = snapshot_.reference_time_ns - in_.Number();
    block.sequence = base.sequence + static_cast<uint32_t>(in_.Number());
    return absl::OkStatus();
  }

  absl::Status ReadWhole(size_t i) {
    forms_[i] = Form::kWhole;
    for (uint64_t& counter : Row(i)) counter = in_.Bits(kCounterBits);
    return absl::OkStatus();
  }

  absl::Status ReadDeltas(size_t i, const BaseBlock& base) {
    if (in_.Bit()) forms_[i] = Form::kDerived;
    return DecodeCounters(in_, base.counters, Row(i)) ? absl::OkStatus() : Malformed("an impossible form of counters");
  }

  // From what the rows hold to counters. A row's delta is known before its parent needs it.
  void AddUp(const Bases& bases) {
    const BlockFamily family(snapshot_.blocks);
    std::vector<uint64_t, WipingAllocator<uint64_t>> sums(snapshot_.counters.size());
    for (const size_t i : family.children_first()) {
      const BaseBlock base = bases.Of(i);
      const size_t parent = family.parent(i);
      const size_t first = i * snapshot_.counters_per_block;
      for (size_t c = 0; c < snapshot_.counters_per_block; ++c) {
        uint64_t& counter = snapshot_.counters[first + c];
        if (forms_[i] == Form::kDerived) counter += sums[first + c];
        if (forms_[i] != Form::kWhole) counter += base.counter(c);
        if (parent != BlockFamily::kNone) {
          sums[parent * snapshot_.counters_per_block + c] += counter - base.counter(c);
        }
      }
    }
  }

  BitReader in_;
  const Snapshot* const base_;
  Snapshot snapshot_;
  std::vector<Form> forms_;
};

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
  out.Raw(Encoder(snapshot, base, confidential).Encode());
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
  return Decoder(stream.payload.subspan(kSnapshotFixedBytes), base, std::move(snapshot)).Decode(blocks);
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
