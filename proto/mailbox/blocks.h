// SPDX-License-Identifier: Apache-2.0
//
// The hierarchy of a snapshot's blocks: a VM's counts include its contexts', the device's include its VMs' and those of
// the slices' host blocks.
//   const BlockFamily family(snapshot.blocks);
//   for (const size_t block : family.children_first()) Add(block, family.parent(block));
#ifndef SIDEBAND_PROTO_MAILBOX_BLOCKS_H_
#define SIDEBAND_PROTO_MAILBOX_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {

// The forms of a block's increments that a stream may contain, by the number of the last one; the shortest is written.
// Forms 0 to 4 use groups of 1, 2, 4, 8 or 16 counters, with the width of the group's largest increment: adjacent
// counters of a catalogue have the same unit and similar sizes. Form 5 derives each width from the counter's value in
// the base, less a difference common to a group of sixteen: counters with high values tend to have high increments.
// Form 6 writes the sum of all increments, and each increment's difference from its counter's share of that sum:
// counters that go on as before grow in proportion.
enum class Forms : uint8_t {
  kAsBefore = 5,      // framing kDelta
  kProportional = 6,  // framing kSections
};

// `before` has the size of `increments`, or is empty if the block has no base. The form takes three bits. Forms 0 to 4
// are the logarithm of the group's size: each group is a width and its increments in that width. Form 5 has groups of
// 16: each group is 8 bits with the common difference plus 64, and its increments in the resulting widths. Form 6 is
// three bits with the logarithm of the group's size, the sum as a number, and groups of differences, each with its sign
// in the least significant bit. The last group may be shorter. Sums and differences are modulo 2^64.
void EncodeCounters(std::span<const uint64_t> increments, std::span<const uint64_t> before, Forms forms,
                    BitWriter& out);
// Fills `increments`. Returns false for an invalid form; in.ok() reports missing bits.
bool DecodeCounters(BitReader& in, std::span<const uint64_t> before, Forms forms, std::span<uint64_t> increments);

// The number of bits that EncodeCounters would write.
size_t CountersBits(std::span<const uint64_t> increments, std::span<const uint64_t> before, Forms forms);

// Immutable, therefore thread-safe.
class BlockFamily {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit BlockFamily(std::span<const BlockHeader> blocks);

  // The block whose counts include this block's. kNone for the device's block, and if the parent is not in the
  // snapshot.
  size_t parent(size_t block) const { return parents_[block]; }
  // All blocks, children before their parents.
  const std::vector<size_t>& children_first() const { return children_first_; }

 private:
  std::vector<size_t> parents_;
  std::vector<size_t> children_first_;
};

// For each block, the index of the block in `base` with the same scope and generation, or BlockFamily::kNone.
std::vector<size_t> SameBlocks(std::span<const BlockHeader> blocks, std::span<const BlockHeader> base);

// Widths of a block's fields in the stream (stream_format.md).
inline constexpr uint32_t kScopeBits = 16 + 16 + 32;
inline constexpr uint32_t kStateBits = 2;
inline constexpr uint32_t kFlagsBits = 16;
inline constexpr uint32_t kCounterBits = 64;

// The flags that a stream with these forms of increments may have.
constexpr uint16_t KnownFlags(Forms forms) {
  return forms >= Forms::kProportional ? kFlagsKnown | kFlagRotationInconsistent : kFlagsKnown;
}

// The base of a block: the base snapshot's block with the same scope, or zeros.
struct BaseBlock {
  const BlockHeader* header = nullptr;
  std::span<const uint64_t> counters;

  uint64_t counter(size_t i) const { return header == nullptr ? 0 : counters[i]; }
};

// Maps the blocks of a snapshot to their bases. Immutable, therefore thread-safe; the arguments must outlive it.
class BlockBases {
 public:
  BlockBases(std::span<const BlockHeader> blocks, const Snapshot* base)
      : base_(base),
        same_(base == nullptr ? std::vector(blocks.size(), BlockFamily::kNone) : SameBlocks(blocks, base->blocks)) {}

  // The block in the base snapshot; BlockFamily::kNone: there is none.
  size_t PlaceOf(size_t block) const { return same_[block]; }
  BaseBlock Of(size_t block) const {
    if (same_[block] == BlockFamily::kNone) return {};
    return {&base_->blocks[same_[block]], base_->Counters(same_[block])};
  }

 private:
  const Snapshot* const base_;
  const std::vector<size_t> same_;
};

// Encodes the bits of a snapshot's blocks (stream_format.md, "Snapshot").
// Encodes relative to `base`, unless it is null. Blocks of the VMs in `whole` are written whole, and are no children of
// another block. Increments have one of `forms`.
Bytes EncodeBlocks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole, Forms forms);

// Whether a block is always written whole: one of a VM in `whole`, but for host blocks.
bool IsWrittenWhole(const BlockHeader& block, const std::set<uint16_t>& whole);

// "snapshot: WHAT".
absl::Status MalformedSnapshot(absl::string_view what);

// Decodes the bits of a snapshot's blocks (stream_format.md, "Snapshot"), from an untrusted peer. `head` is the
// snapshot without its blocks and counters, `blocks` is their number; the caller has checked the limits of both.
// INVALID_ARGUMENT describes malformed content, such as increments of a form that is not one of `forms`.
absl::StatusOr<Snapshot> DecodeBlocks(ByteSpan bits, size_t blocks, const Snapshot* base, Snapshot head, Forms forms);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BLOCKS_H_
