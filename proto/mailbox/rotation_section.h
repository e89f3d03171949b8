// SPDX-License-Identifier: Apache-2.0
//
// The bits of a snapshot's rotation numbers: differences from predictions that both ends make from the base, the
// counters, and the blocks before (stream_format.md, "Rotation").
//   out.Raw(EncodeRotation(snapshot, base, whole));
//   SIDEBAND_RETURN_IF_ERROR(DecodeRotation(bits, base, snapshot));   // has its blocks and counters
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

using RotationRow = std::vector<uint64_t, WipingAllocator<uint64_t>>;

// The guesses of encoder and decoder at a block's rotation numbers, from what both know: the base, the block's
// counters, and the blocks that are parts of it. No floating point: both ends compute the same. One way to expect a row
// of numbers.
struct Guess {
  RotationRow values;
  bool ascends = false;  // the numbers are at least the values; else differences have a sign
  RotationRow scale;     // differences tend to be in proportion to it
};
using Guesses = std::vector<Guess>;

// Cycles of a part with the gate of one group open (or all, 0): enabled, then running of each set.
RotationRow ColumnOf(const RotationPart& part, size_t column);
void SetColumn(const RotationRow& row, size_t column, RotationPart& part);

// Blocks are told from children to parents (order()). Not thread-safe; the arguments must outlive it.
class RotationPrediction {
 public:
  RotationPrediction(const Snapshot& snapshot, const Snapshot* base);

  // All blocks, each after those that are parts of it.
  const std::vector<size_t>& order() const { return family_.children_first(); }
  // The base's numbers of a block; none without a base.
  const BlockRotation& BaseOf(size_t block) const;

  // The guesses of a column. `numbers` has its sizes, and the columns that are told before, in ascending order.
  Guesses OfColumn(size_t block, const BlockRotation& numbers, size_t part, size_t column) const;

  struct Times {
    RotationTime now, base;
    uint64_t enabled() const { return now.enabled - base.enabled; }
    uint64_t running() const { return now.running - base.running; }
  };
  // The times of each event of `numbers`, which has all columns.
  std::vector<Times> TimesOf(size_t block, const BlockRotation& numbers) const;
  Guesses OfEstimates(size_t block, const std::vector<Times>& times) const;
  Guesses OfUppers(size_t block, const std::vector<Times>& times) const;
  Guesses OfDeviations(size_t block, const std::vector<Times>& times) const;

  void Add(size_t block, const BlockRotation& numbers);

 private:
  // Gains of the parts of a block, modulo 2^64.
  struct Gain {
    uint64_t estimate = 0;
    uint64_t upper = 0;
    absl::uint128 variance = 0;       // of deviations now
    absl::uint128 base_variance = 0;  // of the base's
  };
  struct Gains {
    std::map<uint16_t, RotationPart> parts;  // by plan
    std::vector<Gain> events;
  };

  RotationPart BasePart(size_t block, const RotationPart& part) const;
  EventEstimate BaseEvent(size_t block, size_t entry) const;
  Gain GainOf(size_t block, size_t entry) const;
  uint64_t BaseCounted(size_t block, size_t entry) const;
  uint64_t Counted(size_t block, size_t entry) const;
  void AddPart(const RotationPart& part, const RotationPart& base, Gains& gains) const;

  const Snapshot& snapshot_;
  const Snapshot* const base_;
  const BlockFamily family_;
  const BlockBases bases_;
  std::vector<size_t> same_;  // of each block, the base's rotation numbers
  std::vector<Gains> gains_;  // of each block's parts
};

// Numbers of the VMs in `whole` are written whole, and are no part of another block's predictions. The snapshot must be
// valid: one entry of `rotation` for each block, as DecodeRotation gives it.
Bytes EncodeRotation(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole);

// Fills the snapshot's `layout` and `rotation`; `bits` come from an untrusted peer. INVALID_ARGUMENT: truncated, bits
// left over, events or plans that do not ascend, an event or group beyond the limits, a part without cycles or with too
// many sets, parts that do not ascend, events without or beyond those of the layout, more than kCountersMax numbers,
// and an impossible form.
absl::Status DecodeRotation(ByteSpan bits, const Snapshot* base, Snapshot& snapshot);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_SECTION_H_
