// SPDX-License-Identifier: Apache-2.0
#include "proto/clocks/counts_within.h"

#include <limits>

namespace sideband::clocks {
namespace {

bool IsInside(const EdgesWithin::Range& outer, const CountedEdges& packet) {
  return outer.begin <= packet.begin && packet.end <= outer.end;
}

bool Touches(const EdgesWithin::Range& outer, const CountedEdges& packet) {
  return packet.begin < outer.end && outer.begin < packet.end;
}

uint64_t SaturatedSum(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max() : a + b;
}

}  // namespace

CountBounds CountsWithin(const EdgesWithin& edges, const std::vector<CountedEdges>& packets) {
  CountBounds bounds;
  for (const CountedEdges& packet : packets) {
    if (packet.begin >= packet.end) continue;
    if (IsInside(edges.surely, packet)) bounds.lower = SaturatedSum(bounds.lower, packet.count);
    if (Touches(edges.maybe, packet)) bounds.upper = SaturatedSum(bounds.upper, packet.count);
  }
  return bounds;
}

}  // namespace sideband::clocks
