// SPDX-License-Identifier: Apache-2.0
//
// How much of an event was counted in a range of reference time: bounds of the count, not only of the range's ends.
// (clocks.md, 5: "Counts on the axis".)
//   SIDEBAND_ASSIGN_OR_RETURN(const EdgesWithin edges, strip.EdgesOf(start, end));
//   const CountBounds counts = CountsWithin(edges, {{.begin = 29'205, .end = 30'205, .count = 25}});
//   Publish(counts.lower, counts.upper);
#ifndef SIDEBAND_PROTO_CLOCKS_COUNTS_WITHIN_H_
#define SIDEBAND_PROTO_CLOCKS_COUNTS_WITHIN_H_

#include <cstdint>
#include <vector>

#include "proto/clocks/clock_strip.h"

namespace sideband::clocks {

// The count of one return packet: in cycles of local edges [begin, end) alone. `begin` is the lowest edge that the
// packet before may have left to this one, its edge less its lag; `end` is this packet's edge.
struct CountedEdges {
  uint64_t begin = 0, end = 0;
  uint64_t count = 0;
};

struct CountBounds {
  uint64_t lower = 0;  // the sum of packets that lie surely within
  uint64_t upper = 0;  // the sum of packets that may reach within; 2^64 - 1 if it is above
  bool operator==(const CountBounds&) const = default;
};

// Bounds the count in a range of time, which must end before the horizon of the newest packet: what was counted since
// is in no packet yet. Packets may be hostile: a range that is empty or reversed has no edges, and its count belongs to
// no time.
CountBounds CountsWithin(const EdgesWithin& edges, const std::vector<CountedEdges>& packets);

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_COUNTS_WITHIN_H_
