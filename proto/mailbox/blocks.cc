// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/blocks.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

using Counters = std::span<const uint64_t>;

// The forms of increments (stream_format.md, "Snapshot"): 0 to 4 are groups of 2^form.
constexpr uint32_t kFormBits = 3;
constexpr uint32_t kLogBits = 3;
constexpr uint32_t kLogMax = 4;
constexpr auto kAsBefore = static_cast<uint32_t>(Forms::kAsBefore);
constexpr auto kProportional = static_cast<uint32_t>(Forms::kProportional);
constexpr uint32_t kNarrowerBits = 8;
constexpr int kNarrowerMax = 64;

int BitWidth(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

uint32_t WidthOf(Counters group) {
  uint64_t any = 0;
  for (const uint64_t counter : group) any |= counter;
  return static_cast<uint32_t>(std::bit_width(any));
}

// Calls `act` with the start and the size of each group of 2^log counters.
template <typename Act>
void ForEachGroup(size_t counters, uint32_t log, Act act) {
  const size_t size = size_t{1} << log;
  for (size_t at = 0; at < counters; at += size) act(at, std::min(size, counters - at));
}

size_t GroupsBits(Counters increments, uint32_t log) {
  size_t bits = 0;
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) {
    const uint32_t width = WidthOf(increments.subspan(at, size));
    bits += WidthBits(width) + width * size;
  });
  return bits;
}

// The smallest difference in width between a counter in the base and its increment, over all increments above 0.
int NarrowerBy(Counters increments, Counters before) {
  int narrower = kNarrowerMax;
  for (size_t i = 0; i < increments.size(); ++i) {
    if (increments[i] != 0) narrower = std::min(narrower, BitWidth(before[i]) - BitWidth(increments[i]));
  }
  return narrower;
}

uint32_t WidthAsBefore(uint64_t before, int narrower) {
  // Increments of 0 do not limit the difference, so the result may be out of range for their counters.
  return static_cast<uint32_t>(std::clamp(BitWidth(before) - narrower, 0, 64));
}

size_t AsBeforeBits(Counters increments, Counters before) {
  size_t bits = 0;
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    const int narrower = NarrowerBy(increments.subspan(at, size), before.subspan(at, size));
    bits += kNarrowerBits;
    for (size_t i = at; i < at + size; ++i) bits += WidthAsBefore(before[i], narrower);
  });
  return bits;
}

// The increments that would be expected of counters that grow in proportion to their values.
class Proportion {
 public:
  // `total` is the sum of all increments. The values must not all be 0.
  Proportion(Counters before, uint64_t total)
      : total_(total), values_(std::accumulate(before.begin(), before.end(), absl::uint128())) {}

  // Not above the total, since no value is above the sum of the values.
  uint64_t Of(uint64_t value) const { return absl::Uint128Low64(absl::uint128(value) * total_ / values_); }

 private:
  const uint64_t total_;
  const absl::uint128 values_;
};

bool HasProportion(Counters before) {
  return std::any_of(before.begin(), before.end(), [](uint64_t value) { return value != 0; });
}

// The sum of the increments, and each one's difference from its share.
struct Shares {
  Shares(Counters increments, Counters before)
      : total(std::accumulate(increments.begin(), increments.end(), uint64_t{0})) {
    const Proportion expected(before, total);
    for (size_t i = 0; i < increments.size(); ++i)
      differences.push_back(WithSign(increments[i] - expected.Of(before[i])));
  }

  uint64_t total;
  std::vector<uint64_t, WipingAllocator<uint64_t>> differences;
};

struct Choice {
  uint32_t form;
  size_t bits;
};

// The cheapest size of groups. The largest one is first: it wins where another is no shorter, which
// SnapshotStreamBytesMax() relies on.
Choice CheapestGroups(Counters increments) {
  Choice best{kLogMax, GroupsBits(increments, kLogMax)};
  for (uint32_t log = 0; log < kLogMax; ++log) {
    const size_t bits = GroupsBits(increments, log);
    if (bits < best.bits) best = {log, bits};
  }
  return best;
}

size_t NumberBits(uint64_t number) { return WidthBits(std::bit_width(number)) + std::bit_width(number); }

size_t SharesBits(const Shares& shares) {
  return kLogBits + NumberBits(shares.total) + CheapestGroups(shares.differences).bits;
}

Choice Cheapest(Counters increments, Counters before, Forms forms) {
  Choice best = CheapestGroups(increments);
  const auto consider = [&](uint32_t form, size_t bits) {
    if (bits < best.bits) best = {form, bits};
  };
  if (!before.empty()) consider(kAsBefore, AsBeforeBits(increments, before));
  if (forms >= Forms::kProportional && HasProportion(before)) {
    consider(kProportional, SharesBits(Shares(increments, before)));
  }
  return best;
}

void EncodeGroup(Counters group, BitWriter& out) {
  const uint32_t width = WidthOf(group);
  out.Width(width);
  for (const uint64_t counter : group) out.Bits(counter, width);
}

void EncodeAsBefore(Counters group, Counters before, BitWriter& out) {
  const int narrower = NarrowerBy(group, before);
  const int biased = narrower + kNarrowerMax;
  out.Bits(static_cast<uint64_t>(biased), kNarrowerBits);
  for (size_t i = 0; i < group.size(); ++i) out.Bits(group[i], WidthAsBefore(before[i], narrower));
}

void DecodeGroup(BitReader& in, std::span<uint64_t> group) {
  const uint32_t width = in.Width();
  for (uint64_t& counter : group) counter = in.Bits(width);
}

void DecodeAsBefore(BitReader& in, Counters before, std::span<uint64_t> group) {
  const int narrower = static_cast<int>(in.Bits(kNarrowerBits)) - kNarrowerMax;
  for (size_t i = 0; i < group.size(); ++i) group[i] = in.Bits(WidthAsBefore(before[i], narrower));
}

void EncodeGroups(Counters increments, uint32_t log, BitWriter& out) {
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) { EncodeGroup(increments.subspan(at, size), out); });
}

void EncodeShares(const Shares& shares, BitWriter& out) {
  const uint32_t log = CheapestGroups(shares.differences).form;
  out.Bits(log, kLogBits);
  out.Number(shares.total);
  EncodeGroups(shares.differences, log, out);
}

void DecodeGroups(BitReader& in, uint32_t log, std::span<uint64_t> increments) {
  ForEachGroup(increments.size(), log, [&](size_t at, size_t size) { DecodeGroup(in, increments.subspan(at, size)); });
}

bool DecodeShares(BitReader& in, Counters before, std::span<uint64_t> increments) {
  const auto log = static_cast<uint32_t>(in.Bits(kLogBits));
  if (log > kLogMax || before.size() != increments.size() || !HasProportion(before)) return false;
  const Proportion expected(before, in.Number());
  DecodeGroups(in, log, increments);
  for (size_t i = 0; i < increments.size(); ++i) increments[i] = expected.Of(before[i]) + WithoutSign(increments[i]);
  return true;
}

}  // namespace

void EncodeCounters(Counters increments, Counters before, Forms forms, BitWriter& out) {
  const uint32_t form = Cheapest(increments, before, forms).form;
  out.Bits(form, kFormBits);
  if (form == kProportional) return EncodeShares(Shares(increments, before), out);
  if (form != kAsBefore) return EncodeGroups(increments, form, out);
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    EncodeAsBefore(increments.subspan(at, size), before.subspan(at, size), out);
  });
}

bool DecodeCounters(BitReader& in, Counters before, Forms forms, std::span<uint64_t> increments) {
  const auto form = static_cast<uint32_t>(in.Bits(kFormBits));
  if (form > static_cast<uint32_t>(forms)) return false;
  if (form == kProportional) return DecodeShares(in, before, increments);
  if (form != kAsBefore) {
    DecodeGroups(in, form, increments);
    return true;
  }
  if (before.size() != increments.size()) return false;
  ForEachGroup(increments.size(), kLogMax, [&](size_t at, size_t size) {
    DecodeAsBefore(in, before.subspan(at, size), increments.subspan(at, size));
  });
  return true;
}

size_t CountersBits(Counters increments, Counters before, Forms forms) {
  return kFormBits + Cheapest(increments, before, forms).bits;
}

namespace {

uint32_t Scope(uint16_t vm, uint16_t context) { return uint32_t{vm} << 16 | context; }
uint32_t Scope(const BlockHeader& block) { return Scope(block.vm, block.context); }

using Places = absl::flat_hash_map<uint32_t, size_t>;

Places PlacesOf(std::span<const BlockHeader> blocks) {
  Places places;
  for (size_t i = 0; i < blocks.size(); ++i) places.try_emplace(Scope(blocks[i]), i);
  return places;
}

size_t Find(const Places& places, uint32_t scope) {
  const auto place = places.find(scope);
  return place == places.end() ? BlockFamily::kNone : place->second;
}

// The level in the hierarchy: 0 for a context, 1 for a VM, 2 for the device.
int Level(const BlockHeader& block) {
  if (block.context != kNoContext) return 0;
  return block.vm == kHypervisorVm ? 2 : 1;
}

}  // namespace

BlockFamily::BlockFamily(std::span<const BlockHeader> blocks) {
  const Places places = PlacesOf(blocks);
  for (const BlockHeader& block : blocks) {
    const int level = Level(block);
    const uint32_t parent = Scope(level == 0 ? block.vm : kHypervisorVm, kNoContext);
    parents_.push_back(level == 2 ? kNone : Find(places, parent));
  }
  for (int level = 0; level <= 2; ++level) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (Level(blocks[i]) == level) children_first_.push_back(i);
    }
  }
}

std::vector<size_t> SameBlocks(std::span<const BlockHeader> blocks, std::span<const BlockHeader> base) {
  const Places places = PlacesOf(base);
  std::vector<size_t> same;
  for (const BlockHeader& block : blocks) {
    // The counters of a new generation start at zero.
    const size_t place = Find(places, Scope(block));
    const bool lives_on = place != BlockFamily::kNone && base[place].generation == block.generation;
    same.push_back(lives_on ? place : BlockFamily::kNone);
  }
  return same;
}

namespace {

bool SameScope(const BlockHeader& a, const BlockHeader& b) {
  return a.vm == b.vm && a.context == b.context && a.generation == b.generation;
}

class BlockEncoder {
 public:
  BlockEncoder(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole, Forms forms)
      : snapshot_(snapshot), base_(base), whole_(whole), forms_(forms), bases_(snapshot.blocks, base) {
    TakeDeltas();
    AddUpDeltas();
  }

  Bytes Encode() && {
    WriteList();
    for (size_t i = 0; i < snapshot_.blocks.size(); ++i) WriteBlock(i);
    return std::move(out_).Take();
  }

 private:
  // Wiped when freed: the rows include counts of confidential VMs.
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
      // The device's block has none of a private VM's counts, and is itself written whole beside other confidential
      // VMs.
      if (family.parent(i) == BlockFamily::kNone || IsWrittenWhole(snapshot_.blocks[i], whole_)) continue;
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
    if (IsWrittenWhole(block, whole_)) return WriteWhole(block, snapshot_.Counters(i));
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

  // The flags that the stream's version has.
  uint16_t FlagsOf(const BlockHeader& block) const { return block.flags & KnownFlags(forms_); }

  void WriteWhole(const BlockHeader& block, std::span<const uint64_t> counters) {
    out_.Bit(true);
    out_.Bit(true);
    out_.Bits(static_cast<uint8_t>(block.state), kStateBits);
    out_.Bits(FlagsOf(block), kFlagsBits);
    out_.Bits(block.trigger_id, 32);
    out_.Bits(block.reference_time_ns, 64);
    out_.Bits(block.sequence, 32);
    for (const uint64_t counter : counters) out_.Bits(counter, kCounterBits);
  }

  void WriteHeader(const BlockHeader& block, const BlockHeader& base) {
    out_.Bits(static_cast<uint8_t>(block.state), kStateBits);
    const bool differ = FlagsOf(block) != FlagsOf(base);
    out_.Bit(differ);
    if (differ) out_.Bits(FlagsOf(block), kFlagsBits);
    // A latch commits all blocks, so these differences are mostly 0, which takes few bits.
    out_.Number(static_cast<uint32_t>(snapshot_.trigger_id - block.trigger_id));
    out_.Number(snapshot_.reference_time_ns - block.reference_time_ns);
    out_.Number(static_cast<uint32_t>(block.sequence - base.sequence));
  }

  // Writes the increments, or the increments less the sum of the children's, whichever is shorter.
  void WriteDeltas(std::span<const uint64_t> deltas, std::span<const uint64_t> sums, std::span<const uint64_t> before) {
    Counters beyond(deltas.begin(), deltas.end());
    for (size_t c = 0; c < deltas.size(); ++c) beyond[c] -= sums[c];
    const bool derived = CountersBits(beyond, before, forms_) < CountersBits(deltas, before, forms_);
    out_.Bit(derived);
    EncodeCounters(derived ? std::span<const uint64_t>(beyond) : deltas, before, forms_, out_);
  }

  const Snapshot& snapshot_;
  const Snapshot* const base_;
  const std::set<uint16_t>& whole_;  // VMs
  const Forms forms_;
  const BlockBases bases_;
  Counters deltas_;  // increments to the base, modulo 2^64
  Counters sums_;    // sums of the children's increments
  BitWriter out_;
};

}  // namespace

bool IsWrittenWhole(const BlockHeader& block, const std::set<uint16_t>& whole) {
  // The hypervisor's own work is no tenant's secret, whoever else is on the device.
  return !IsHostBlock(block) && whole.contains(block.vm);
}

Bytes EncodeBlocks(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole, Forms forms) {
  return BlockEncoder(snapshot, base, whole, forms).Encode();
}

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
