// SPDX-License-Identifier: Apache-2.0
//
// Where a clock is between its packets, by its shortest and longest period alone: true of every clock within its
// limits, whatever else it does. (clocks.md, 5: "Envelope".)
//   Envelope envelope(/*period_shortest=*/32768, /*period_longest=*/98304);
//   if (!envelope.Add(150, bar)) return absl::DataLossError("the clock is outside its limits");
//   const InstantRange range = envelope.At(160);
#ifndef SIDEBAND_PROTO_CLOCKS_ENVELOPE_H_
#define SIDEBAND_PROTO_CLOCKS_ENVELOPE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/clocks/instant.h"

namespace sideband::clocks {

// Anchors are kept: packets, with their bars tightened by all others. The newest kAnchorsExact packets are all kept, so
// that among them the bounds are those of all packets; of older ones some are, at distances that grow with their age.
inline constexpr size_t kAnchorsMax = 48;
inline constexpr size_t kAnchorsExact = 16;
inline constexpr size_t kAnchorsOld = 24;

// Not thread-safe. A longest period of 0: the clock may stop.
class Envelope {
 public:
  Envelope(uint64_t period_shortest, uint64_t period_longest);

  // False if the edge cannot have been within `bar` after the packet before: then nothing is changed. Edges must
  // ascend. Bars are valid (BarOf).
  bool Add(uint64_t edge, const InstantRange& bar);
  // Between two packets it is bounded by both, elsewhere by the nearest alone: an end may be open there. Without any
  // packet both are.
  InstantRange At(uint64_t edge) const;

  bool empty() const { return anchors_.empty(); }
  size_t anchors() const { return anchors_.size(); }
  size_t heap_bytes() const { return anchors_.capacity() * sizeof(Anchor); }

 private:
  // Instants relative to `origin_`: in 64 bits they are half as long.
  struct Anchor {
    uint64_t edge;
    int64_t low, high;
  };

  InstantRange BarOf(const Anchor& anchor) const { return {origin_ + anchor.low, origin_ + anchor.high}; }
  // An anchor's bounds at a later and at an earlier edge.
  InstantRange After(const Anchor& anchor, uint64_t edge) const;
  InstantRange Before(const Anchor& anchor, uint64_t edge) const;
  void TightenOlder();
  void Thin();
  void MoveOrigin(Instant origin);

  uint64_t period_shortest_;
  uint64_t period_longest_;
  Instant origin_;
  std::vector<Anchor> anchors_;  // edges ascend
};

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_ENVELOPE_H_
