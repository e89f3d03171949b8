// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/block_decoder.h"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_bases.h"
#include "proto/mailbox/block_family.h"

namespace sideband::mailbox {
namespace {

class BlockDecoder {
 public:
  // `snapshot` contains everything except its blocks and counters.
  BlockDecoder(ByteSpan bits, const Snapshot* base, Snapshot snapshot, Forms forms)
      : in_(bits), base_(base), increment_forms_(forms), snapshot_(std::move(snapshot)) {}
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  absl::StatusOr<Snapshot> Decode(size_t blocks) && {
    SIDEBAND_RETURN_IF_ERROR(ReadList(blocks));
    const BlockBases bases(snapshot_.blocks, base_);
    snapshot_.counters.resize(snapshot_.blocks.size() * snapshot_.counters_per_block);
    forms_.resize(snapshot_.blocks.size(), Form::kDelta);
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) SIDEBAND_RETURN_IF_ERROR(ReadBlock(i, bases.Of(i)));
    // Checked once: a truncated input reads as zeros, and the memory above does not depend on it.
    if (!in_.ok()) return MalformedSnapshot("truncated");
    if (!in_.AtEnd()) return MalformedSnapshot("bits after the end");
    AddUp(bases);
    return std::move(snapshot_);
  }

 private:
  // The content of a block's row before AddUp: counters, increments to the base, or increments beyond those of its
  // children.
  enum class Form : uint8_t { kWhole, kDelta, kDerived };

  std::span<uint64_t> Row(size_t block) {
    return std::span(snapshot_.counters).subspan(block * snapshot_.counters_per_block, snapshot_.counters_per_block);
  }

  absl::Status ReadList(size_t blocks) {
    if (in_.Bit()) {
      if (base_ == nullptr || base_->blocks.size() != blocks) {
        return MalformedSnapshot("the blocks are those of a snapshot that is not held");
      }
      snapshot_.blocks = base_->blocks;
      return absl::OkStatus();
    }
    // Rejects an excessive block count before memory is allocated for it.
    if (blocks * kScopeBits > in_.remaining()) return MalformedSnapshot("truncated");
    std::set<std::pair<uint16_t, uint16_t>> scopes;
    for (size_t i = 0; i < blocks; ++i) {
      BlockHeader& block = snapshot_.blocks.emplace_back();
      block.vm = static_cast<uint16_t>(in_.Bits(16));
      block.context = static_cast<uint16_t>(in_.Bits(16));
      block.generation = static_cast<uint32_t>(in_.Bits(32));
      if (!scopes.emplace(block.vm, block.context).second) return MalformedSnapshot("two blocks of one scope");
    }
    return absl::OkStatus();
  }

  absl::Status ReadBlock(size_t i, const BaseBlock& base) {
    BlockHeader& block = snapshot_.blocks[i];
    if (!in_.Bit()) {
      if (base.header == nullptr) return MalformedSnapshot("an unchanged block that was not there before");
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
    if (state > static_cast<uint8_t>(BlockState::kRetired)) return MalformedSnapshot("unknown block state");
    block.state = static_cast<BlockState>(state);
    return absl::OkStatus();
  }

  absl::Status ReadFlags(BlockHeader& block) {
    block.flags = static_cast<uint16_t>(in_.Bits(kFlagsBits));
    return (block.flags & ~KnownFlags(increment_forms_)) == 0 ? absl::OkStatus()
                                                              : MalformedSnapshot("unknown block flag");
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
    return DecodeCounters(in_, base.counters, increment_forms_, Row(i))
               ? absl::OkStatus()
               : MalformedSnapshot("an impossible form of counters");
  }

  // Converts the rows to counters. Children come first: a derived row needs the increments of its children.
  void AddUp(const BlockBases& bases) {
    const BlockFamily family(snapshot_.blocks);
    CounterValues sums(snapshot_.counters.size());
    for (const size_t i : family.children_first()) {
      const BaseBlock base = bases.Of(i);
      const size_t parent = family.parent(i);
      const size_t first = i * snapshot_.counters_per_block;
      for (size_t c = 0; c < snapshot_.counters_per_block; ++c) {
        uint64_t& counter = snapshot_.counters[first + c];
        if (forms_[i] == Form::kDerived) counter += sums[first + c];
        if (forms_[i] != Form::kWhole) counter += base.counter(c);
        if (parent != BlockFamily::kNone && forms_[i] != Form::kWhole) {
          sums[parent * snapshot_.counters_per_block + c] += counter - base.counter(c);
        }
      }
    }
  }

  BitReader in_;
  const Snapshot* const base_;
  const Forms increment_forms_;
  Snapshot snapshot_;
  std::vector<Form> forms_;
};

}  // namespace

absl::Status MalformedSnapshot(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("snapshot: ", what));
}

absl::StatusOr<Snapshot> DecodeBlocks(ByteSpan bits, size_t blocks, const Snapshot* base, Snapshot head, Forms forms) {
  return BlockDecoder(bits, base, std::move(head), forms).Decode(blocks);
}

}  // namespace sideband::mailbox
