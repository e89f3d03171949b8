// SPDX-License-Identifier: Apache-2.0
//
// What encoder and decoder expect of a block's rotation numbers, from what both know: the base, the block's counters,
// and the blocks that are parts of it. No floating point: both ends compute the same.
//   RotationPrediction predictions(snapshot, base);       // with blocks, counters and layout
//   const Guesses guesses = predictions.OfUppers(block, predictions.TimesOf(block, numbers));
//   predictions.Add(block, numbers);                      // to the block whose part this is
#ifndef SIDEBAND_PROTO_MAILBOX_ROTATION_PREDICTION_H_
#define SIDEBAND_PROTO_MAILBOX_ROTATION_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/block_bases.h"
#include "proto/mailbox/block_family.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {

using RotationRow = std::vector<uint64_t, WipingAllocator<uint64_t>>;

// One way to expect a row of numbers.
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

  // Of `numbers`, which has its sizes, and those columns that are told before, in ascending order.
  Guesses OfColumn(size_t block, const BlockRotation& numbers, size_t part, size_t column) const;

  struct Times {
    RotationTime now, base;
    uint64_t enabled() const { return now.enabled - base.enabled; }
    uint64_t running() const { return now.running - base.running; }
  };
  // Of each event of `numbers`, which has all columns.
  std::vector<Times> TimesOf(size_t block, const BlockRotation& numbers) const;
  Guesses OfEstimates(size_t block, const std::vector<Times>& times) const;
  Guesses OfUppers(size_t block, const std::vector<Times>& times) const;
  Guesses OfDeviations(size_t block, const std::vector<Times>& times) const;

  void Add(size_t block, const BlockRotation& numbers);

 private:
  // What the parts of a block have gained, modulo 2^64.
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

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_ROTATION_PREDICTION_H_
