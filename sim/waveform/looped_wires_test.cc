// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_wires.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sideband::sim {
namespace {

uint64_t Count(const LoopedWires& wires, WireId wire, CycleRange range) {
  uint64_t sum = 0;
  wires.AddCounts(range, std::span(&wire, 1), std::span(&sum, 1));
  return sum;
}

// Appends windows of these sizes, of two wires with random bits, and closes after `kept` cycles.
void Check(const std::vector<uint64_t>& sizes, uint64_t kept) {
  std::mt19937_64 random(sizes.size());
  LoopedWires looped(2);
  PackedWires window(2, 5000);
  std::vector<std::vector<uint64_t>> ones(2);
  for (const uint64_t size : sizes) {
    const uint64_t begin = window.range().end;
    window.Reset(begin);
    for (WireId wire = 0; wire < 2; ++wire) {
      for (uint64_t i = 0; i < size; ++i) {
        ones[wire].push_back(random() % 2);
        if (ones[wire].back() != 0) window.Set(wire, begin + i);
      }
    }
    window.ExtendTo(begin + size);
    looped.Append(window);
  }
  looped.Close(kept);
  ASSERT_EQ(looped.length(), kept);
  for (WireId wire = 0; wire < 2; ++wire) {
    uint64_t naive = 0;
    for (uint64_t cycle = 0; cycle < 2 * kept + 3; ++cycle) {
      ASSERT_EQ(Count(looped, wire, {0, cycle}), naive) << cycle << " of " << kept;
      naive += ones[wire][cycle % kept];
    }
  }
}

TEST(LoopedWiresTest, WindowsOfAnySizeFollowEachOther) {
  Check({64}, 64);
  Check({1, 63, 64, 65}, 193);
  Check({4096, 4096}, 8192);
  Check({5, 0, 4096, 0, 4090, 200}, 8391);
}

TEST(LoopedWiresTest, WhatIsBehindTheLengthIsDropped) {
  Check({100}, 99);
  Check({100}, 64);
  Check({4096, 10}, 4096);
  Check({4096, 10}, 1);
}

TEST(LoopedWiresTest, WithoutCyclesThereIsNothingToCount) {
  LoopedWires looped(1);
  looped.Close(0);
  EXPECT_EQ(Count(looped, 0, {0, 100}), 0u);
}

TEST(LoopedWiresTest, MemoryIsInBlocks) {
  EXPECT_EQ(LoopedWires::Bytes(3, 0), 0u);
  EXPECT_EQ(LoopedWires::Bytes(3, 1), 3u * 1024);
  EXPECT_EQ(LoopedWires::Bytes(3, 4096), 3u * 1024);
  EXPECT_EQ(LoopedWires::Bytes(3, 4097), 6u * 1024);
}

}  // namespace
}  // namespace sideband::sim
