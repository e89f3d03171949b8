// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot_cost.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {
namespace {

TEST(SnapshotCostTest, OneWindowByHand) {
  const SnapshotCost cost = CostOfSnapshot(160, 255);
  EXPECT_EQ(cost.windows, 1u);
  EXPECT_EQ(cost.commands, 1u) << "LATCH";
  EXPECT_EQ(cost.bus_bytes, 2u * 8 + 3 * 9 + 160 + 5);
  EXPECT_EQ(cost.bit_times, 9u * cost.bus_bytes + 2 * 2 + 3 * 3 + 3);
  EXPECT_TRUE(cost.readable);
}

TEST(SnapshotCostTest, ASpanHasSixteenWindows) {
  EXPECT_EQ(CostOfSnapshot(4080, 255).commands, 1u);
  EXPECT_EQ(CostOfSnapshot(4081, 255).commands, 2u);
  EXPECT_EQ(CostOfSnapshot(4081, 255).windows, 17u);
  EXPECT_EQ(CostOfSnapshot(513, 32).commands, 2u);
}

TEST(SnapshotCostTest, NoStreamIsLongerThanTheLongest) {
  for (const auto& [blocks, counters] : {std::pair<size_t, size_t>{1, 1}, {5, 3}, {40, 100}, {3, 64}}) {
    Snapshot snapshot{.trigger_id = 0, .reference_time_ns = 0};
    snapshot.counters_per_block = static_cast<uint32_t>(counters);
    for (uint16_t i = 0; i < blocks; ++i) {
      snapshot.blocks.push_back(
          {.vm = 1, .context = i, .flags = 1, .trigger_id = 1, .reference_time_ns = 1, .sequence = 0x8000'0000});
    }
    snapshot.counters.resize(blocks * counters, ~uint64_t{0});
    snapshot.statistics.emplace();
    EXPECT_EQ(EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections).size(),
              SnapshotStreamBytesMax(blocks, counters));
    EXPECT_LE(EncodeSnapshotStream(snapshot, nullptr, {}).size(), SnapshotStreamBytesMax(blocks, counters));
    EXPECT_LE(EncodeSnapshotStream(snapshot, nullptr, {1}, Framing::kSections).size(),
              SnapshotStreamBytesMax(blocks, counters));
  }
}

TEST(SnapshotCostTest, NoStreamIsShorterThanTheShortest) {
  Snapshot snapshot{.snapshot_id = 1};
  snapshot.counters_per_block = 10;
  for (uint16_t vm = 0; vm < 20; ++vm) snapshot.blocks.push_back({.vm = vm});
  snapshot.counters.resize(200);
  EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {}).size(), SnapshotStreamBytesMin(20, 0, 10));
  EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {kHypervisorVm, 3, 4}).size(), SnapshotStreamBytesMin(20, 3, 10))
      << "and the device's";
}

// All blocks have numbers of all plans, which are hard to predict.
Snapshot Rotating(uint16_t blocks, const RotationShape& shape) {
  std::mt19937_64 random(1);
  const auto numbers = [&](size_t size) {
    std::vector<uint64_t> drawn(size);
    for (uint64_t& number : drawn) number = random();
    return drawn;
  };
  Snapshot snapshot{.counters_per_block = 100};
  snapshot.counters.resize(blocks * size_t{100}, ~uint64_t{0});
  for (uint16_t event = 0; event < shape.events; ++event) snapshot.layout.events.push_back({event, kNoGateGroup});
  for (uint16_t plan = 0; plan < shape.plans; ++plan) snapshot.layout.plans.push_back({plan, numbers(shape.events)});
  for (uint16_t i = 0; i < blocks; ++i) {
    snapshot.blocks.push_back({.vm = 1, .context = i});
    BlockRotation& block = snapshot.rotation.emplace_back();
    for (uint16_t plan = 0; plan < shape.plans; ++plan) {
      block.parts.push_back({plan, numbers(shape.columns), numbers(shape.columns * (shape.sets / shape.plans))});
    }
    for (size_t event = 0; event < shape.events; ++event) block.events.push_back({random(), random(), random()});
  }
  return snapshot;
}

TEST(SnapshotCostTest, RotationNumbersAreBetweenTheirBounds) {
  for (const RotationShape& shape : {RotationShape{.events = 40, .plans = 1, .sets = 8},
                                     RotationShape{.events = 100, .plans = 3, .sets = 60, .columns = 4},
                                     RotationShape{.events = 1, .plans = 2, .sets = 2, .columns = 65}}) {
    const Snapshot rotating = Rotating(9, shape);
    Snapshot bare = rotating;
    bare.rotation.clear(), bare.layout = {};
    const auto section = [&](const Snapshot* base, const Snapshot* bare_base, const VmIds& whole) {
      return EncodeSnapshotStream(rotating, base, whole, Framing::kSections).size() -
             EncodeSnapshotStream(bare, bare_base, whole, Framing::kSections).size();
    };
    const size_t most = SnapshotStreamBytesMax(9, 100, shape) - SnapshotStreamBytesMax(9, 100);
    EXPECT_LE(section(nullptr, nullptr, {}), most);
    EXPECT_GE(section(nullptr, nullptr, {}), most * 9 / 10);
    EXPECT_LE(section(nullptr, nullptr, {1}), most);
    EXPECT_EQ(section(&rotating, &bare, {}),
              SnapshotStreamBytesMin(9, 0, 100, shape) - SnapshotStreamBytesMin(9, 0, 100));
    EXPECT_EQ(section(&rotating, &bare, {1}),
              SnapshotStreamBytesMin(9, 9, 100, shape) - SnapshotStreamBytesMin(9, 9, 100));
  }
}

TEST(SnapshotCostTest, ClocksAreBetweenTheirBounds) {
  for (const size_t domains : {1, 3, 64}) {
    Snapshot snapshot{.snapshot_id = 1, .clocks = {}};
    snapshot.clocks.assign(domains, ClockReading());
    snapshot.blocks = {{.vm = 0}};
    EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {}, Framing::kSections).size(),
              SnapshotStreamBytesMin(1, 0, 0, {}, domains) + 8)
        << "the blocks' section";
    constexpr uint64_t kFar = uint64_t{1} << 63;
    const ClockReading far{.local_clock = kFar, .horizon_lag = kFar, .arrival = kFar, .changes = UINT32_MAX};
    snapshot.clocks.assign(domains, far);
    Snapshot bare = snapshot;
    bare.clocks.clear();
    EXPECT_EQ(EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections).size() -
                  EncodeSnapshotStream(bare, nullptr, {}, Framing::kSections).size(),
              SnapshotStreamBytesMax(1, 0, {}, domains) - SnapshotStreamBytesMax(1, 0));
  }
}

TEST(SnapshotCostTest, PeeksByHand) {
  constexpr uint64_t kWrite = 9 * 8 + 2, kRead = 9 * 9 + 3;
  EXPECT_EQ(PeekBitTimes(1, 255), 6 * kWrite + 3 * kRead + (9 * (78 + 5) + 3));
  EXPECT_EQ(PeekBitTimes(64, 255), 6 * kWrite + 3 * kRead + (9 * (582 + 3 * 5) + 3 * 3));
  EXPECT_EQ(PeekBitTimes(1, 32), 6 * kWrite + 3 * kRead + (9 * (78 + 3 * 5) + 3 * 3));
}

TEST(SnapshotCostTest, AStreamBeyondTheControllersLimitIsMarked) {
  EXPECT_FALSE(CostOfSnapshot(SnapshotStreamBytesMax(17'000, 4096), 255).readable);
}

}  // namespace
}  // namespace sideband::mailbox
