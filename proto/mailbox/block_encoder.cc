// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/block_encoder.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_bases.h"
#include "proto/mailbox/block_family.h"

namespace sideband::mailbox {
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

  // Those that the stream's version has.
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

}  // namespace sideband::mailbox
