// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/snapshot_cost.h"

#include <gtest/gtest.h>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

TEST(SnapshotCostTest, TheStreamIsAsLongAsOneThatIsMade) {
  for (const auto& [blocks, events] : {std::pair<size_t, size_t>{1, 1}, {5, 3}, {40, 100}}) {
    const mailbox::Snapshot snapshot{.counters_per_block = static_cast<uint32_t>(events),
                                     .blocks = std::vector<mailbox::BlockHeader>(blocks),
                                     .counters = std::vector<uint64_t>(blocks * events)};
    EXPECT_EQ(CostOfSnapshot(blocks, events).stream_bytes, mailbox::EncodeSnapshotStream(snapshot).size());
  }
}

TEST(SnapshotCostTest, OneWindowByHand) {
  const SnapshotCost cost = CostOfSnapshot(2, 3);
  EXPECT_EQ(cost.stream_bytes, 28u + 24 + 2 * (28 + 3 * 8) + 4);
  EXPECT_EQ(cost.windows, 1u);
  EXPECT_EQ(cost.commands, 3u) << "LATCH, READ, ACK";
  EXPECT_EQ(cost.bus_bytes, 3u * (3 * 8 + 3 * 9) + 160 + 5);
  EXPECT_EQ(cost.bus_clocks, 9u * 318 + 3 * (3 * 2 + 3 * 3) + 3);
  EXPECT_TRUE(cost.readable);
}

TEST(SnapshotCostTest, ASpanHasSixteenWindows) {
  // 56 + blocks x 36 bytes: 4076 and 4112 bytes, on both sides of 4080.
  EXPECT_EQ(CostOfSnapshot((4076 - 56) / 36, 1).commands, 3u);
  EXPECT_EQ(CostOfSnapshot((4112 - 56) / 36 + 1, 1).commands, 4u);
  EXPECT_EQ(CostOfSnapshot((4112 - 56) / 36 + 1, 1).windows, 17u);
}

TEST(SnapshotCostTest, AStreamBeyondTheControllersLimitIsMarked) {
  EXPECT_FALSE(CostOfSnapshot(17'000, 4096).readable);
}

}  // namespace
}  // namespace sideband::mcu
