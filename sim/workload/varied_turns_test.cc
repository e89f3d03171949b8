// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/varied_turns.h"

#include <gtest/gtest.h>

namespace sideband::sim {
namespace {

// Wire 0 is 1 in every second cycle of a steady ring; wire 1 never is. In the second ring, wire 0 is 1 in the first of
// two segments, and wire 1 in the other.
VariedTurns MakeTurns() {
  constexpr uint64_t kHalf = uint64_t{1} << 31, kOne = uint64_t{1} << 32;
  const std::vector<Pattern> steady = {{kHalf, 0}, {0, 0}};
  const std::vector<Pattern> bursts = {{kOne, 0}, {0, 0}, {0, 0}, {kOne, 0}};
  return VariedTurns(
      {PatternRing(std::vector<uint64_t>{100}, steady), PatternRing(std::vector<uint64_t>{3, 2}, bursts)},
      {{0, 0, 6}, {1, 2, 12}, {0, 0, 5}}, 2);
}

TEST(VariedTurnsTest, CountsByHand) {
  const VariedTurns turns = MakeTurns();
  EXPECT_EQ(turns.CountBefore(0, {0, 0, 6}), 3u);
  // The ring from its cycle 2 on: 1 00 111 00 111 0.
  EXPECT_EQ(turns.CountBefore(0, {0, 1, 1}), 4u);
  EXPECT_EQ(turns.CountBefore(0, {0, 1, 12}), 10u);
  EXPECT_EQ(turns.CountBefore(1, {0, 2, 0}), 5u);
  EXPECT_EQ(turns.CountBefore(0, {0, 2, 5}), 12u);
  EXPECT_EQ(turns.CountBefore(0, {1000, 1, 1}), 12'004u);
}

TEST(VariedTurnsTest, RangesAreDifferencesOfPrefixes) {
  const VariedTurns turns = MakeTurns();
  std::vector<TurnPosition> positions;
  for (const uint64_t turn : {0, 1, 7}) {
    for (uint64_t cycle = 0; cycle < 6; ++cycle) positions.push_back({turn, 0, cycle});
    for (uint64_t cycle = 0; cycle < 12; ++cycle) positions.push_back({turn, 1, cycle});
    for (uint64_t cycle = 0; cycle < 5; ++cycle) positions.push_back({turn, 2, cycle});
  }
  for (size_t begin = 0; begin < positions.size(); ++begin) {
    for (size_t end = begin; end < positions.size(); ++end) {
      std::vector<uint64_t> sums = {5, 7};
      turns.AddConsecutiveCounts(positions[begin], positions[end], 0, sums);
      for (const WireId wire : {0u, 1u}) {
        EXPECT_EQ(sums[wire] - (wire == 0 ? 5 : 7),
                  turns.CountBefore(wire, positions[end]) - turns.CountBefore(wire, positions[begin]));
      }
    }
  }
}

}  // namespace
}  // namespace sideband::sim
