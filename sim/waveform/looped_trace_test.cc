// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/looped_trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/test_files.h"

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

// A trace with two wires: the signal a, which is 1 in every third cycle from 0 on, and its complement.
std::unique_ptr<TraceReader> Open(uint64_t cycles) {
  std::string trace = "$var wire 1 ! clk $end $var wire 1 a a $end $enddefinitions $end\n#0 0!";
  for (uint64_t i = 0; i < cycles; ++i) {
    absl::StrAppend(&trace, "\n#", 4 * i + 1, i % 3 == 0 ? " 1a" : " 0a", "\n#", 4 * i + 2, " 1!\n#", 4 * i + 3, " 0!");
  }
  const auto map = SignalMap::Parse(R"({"clock": "clk", "events": [{"name": "e", "signal": "a", "op": "high"},
                                        {"name": "f", "signal": "a", "op": "low"}]})",
                                    "S.json");
  auto reader = TraceReader::Open(WriteTestFile(trace), *map);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

uint64_t Count(const WireSource& source, WireId wire, CycleRange range) {
  uint64_t sum = 0;
  source.AddCounts(range, std::span(&wire, 1), std::span(&sum, 1));
  return sum;
}

TEST(LoopedTraceTest, RepeatsForEver) {
  for (const uint64_t length : {1, 63, 64, 65, 4095, 4096, 4097, 9000}) {
    const auto reader = Open(length);
    const auto trace = LoopedTrace::Load(*reader);
    ASSERT_TRUE(trace.ok()) << trace.status();
    ASSERT_EQ((*trace)->length(), length);
    uint64_t naive = 0;
    for (uint64_t cycle = 0; cycle < 2 * length + 70; ++cycle) {
      ASSERT_EQ(Count(**trace, 0, {0, cycle}), naive) << length << " " << cycle;
      ASSERT_EQ(Count(**trace, 1, {0, cycle}), cycle - naive);
      naive += cycle % length % 3 == 0 ? 1 : 0;
    }
  }
}

TEST(LoopedTraceTest, RangesMayBeAnywhere) {
  const auto reader = Open(100);  // 34 ones
  const auto trace = LoopedTrace::Load(*reader);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(Count(**trace, 0, {99, 101}), 2u) << "the last cycle and the first";
  EXPECT_EQ(Count(**trace, 0, {98, 100'000'000'000'000'001}), 2 + 34 * (uint64_t{1'000'000'000'000'000} - 1));
  EXPECT_EQ(Count(**trace, 0, {50, 50}), 0u);
  EXPECT_EQ((*trace)->wires(1)[0], (EventWire{1, 0}));
}

TEST(LoopedTraceTest, MemoryIsBoundedWithTheArithmetic) {
  constexpr uint64_t kTwoBlocks = 2 * 2 * 4096 / 4;  // wires × chunks × cycles × 2 bits
  EXPECT_TRUE(LoopedTrace::Load(*Open(4096), kTwoBlocks / 2).ok());
  EXPECT_TRUE(LoopedTrace::Load(*Open(4097), kTwoBlocks).ok());
  const auto refused = LoopedTrace::Load(*Open(4097), kTwoBlocks - 1);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kOutOfRange);
  const std::string message(refused.status().message());
  EXPECT_NE(message.find(": too long to loop in memory: 2 wires x 8192 cycles x 2 bits are 4096 bytes, the limit is "
                         "4095"),
            std::string::npos)
      << message;
}

TEST(LoopedTraceTest, AnotherClockHasTurnsOfItsOwn) {
  // Edges: clk at 2, 12; k at 1, 5, 11, 12, and at 15, which belongs to no cycle.
  const std::string trace =
      "$var wire 1 ! clk $end $var wire 1 k k $end $var wire 1 a a $end $enddefinitions $end\n"
      "#0 0! 0k 1a #1 1k #2 1! 0k #5 1k #6 0k 0! #7 0a #11 1k 1a #11 0k #12 1! 1k #14 0k #15 1k";
  const auto map = SignalMap::Parse(
      R"({"clock": "clk", "events": [{"name": "e", "signal": "a", "op": "high", "clock": "k"}]})", "S.json");
  const auto reader = TraceReader::Open(WriteTestFile(trace), *map);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto looped = LoopedTrace::Load(**reader);
  ASSERT_TRUE(looped.ok()) << looped.status();
  EXPECT_EQ((*looped)->length(), 2u);
  const std::vector<uint64_t> before = {0, 1, 4, 5, 8, 9};
  for (uint64_t cycle = 0; cycle < before.size(); ++cycle) {
    EXPECT_EQ((*looped)->CyclesBefore(1, cycle), before[cycle]) << cycle;
    EXPECT_EQ((*looped)->CyclesHeld(1, cycle), before[cycle]) << cycle;
    EXPECT_EQ((*looped)->CyclesBefore(0, cycle), cycle);
  }
  // a is 1, 1, 0, 1 in a turn.
  EXPECT_EQ(Count((*looped)->domain(1), 0, {0, 4}), 3u);
  EXPECT_EQ(Count((*looped)->domain(1), 0, {2, 9}), 1 + 3 + 1u);
}

TEST(LoopedTraceTest, TraceWithoutACycleIsRefused) {
  EXPECT_EQ(LoopedTrace::Load(*Open(0)).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace

}  // namespace sideband::sim
