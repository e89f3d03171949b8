// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_writer.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::sim {
namespace {

// Adds rising edges of the two domains at one time.
void At(TraceWriter& writer, int reference, int other) {
  for (int i = 0; i < other; ++i) ASSERT_TRUE(writer.Tick(1));
  for (int i = 0; i < reference; ++i) ASSERT_TRUE(writer.Tick(0));
  writer.TimePasses();
}

std::vector<uint64_t> Before(const TraceChunk& chunk) {
  std::vector<uint64_t> before;
  for (uint64_t cycle = chunk.range().begin; cycle <= chunk.range().end; ++cycle) {
    before.push_back(chunk.CyclesBefore(1, cycle));
  }
  return before;
}

using Cycles = std::vector<uint64_t>;

TEST(TraceWriterTest, OneClockFillsAChunkExactly) {
  TraceWriter writer({{false}}, 64);
  EXPECT_TRUE(writer.empty());
  for (int i = 0; i < 63; ++i) ASSERT_TRUE(writer.Tick(0));
  EXPECT_FALSE(writer.full());
  ASSERT_TRUE(writer.Tick(0)) << "any number of edges at one time";
  EXPECT_TRUE(writer.full());
  EXPECT_EQ(writer.Finish().range(), (CycleRange{0, 64}));
  writer.Begin();
  EXPECT_FALSE(writer.full());
  EXPECT_TRUE(writer.empty());
}

TEST(TraceWriterTest, AnEdgeBelongsToTheFirstReferenceEdgeAtOrAfterIt) {
  TraceWriter writer({{}, {false}}, 64);
  At(writer, 0, 2);  // before reference edge 0
  At(writer, 1, 0);
  At(writer, 0, 1);
  At(writer, 1, 1);  // at the time of edge 1
  At(writer, 2, 1);  // two reference edges at one time
  At(writer, 0, 3);  // after the last edge
  const TraceChunk& chunk = writer.Finish();
  EXPECT_EQ(chunk.range(), (CycleRange{0, 4}));
  EXPECT_EQ(Before(chunk), (Cycles{0, 2, 4, 5, 5}));
  EXPECT_EQ(chunk.CyclesHeld(1, 4), 8u);
  EXPECT_EQ(chunk.CyclesHeld(0, 4), 4u);
}

TEST(TraceWriterTest, ChunksOfSeveralClocksEndBetweenTimes) {
  TraceWriter writer({{}, {false}}, 64);
  At(writer, 1, 0);
  for (int i = 0; i < 63; ++i) At(writer, 0, 1);
  EXPECT_FALSE(writer.full());
  writer.Set(1, 0, true);  // in cycle 63 of the other domain
  At(writer, 1, 2);
  EXPECT_TRUE(writer.full());
  const TraceChunk& chunk = writer.Finish();
  EXPECT_EQ(chunk.range(), (CycleRange{0, 2}));
  EXPECT_EQ(chunk.domain(1).range(), (CycleRange{0, 65}));
  EXPECT_EQ(Before(chunk), (Cycles{0, 0, 65}));
  EXPECT_FALSE(chunk.domain(1).Bit(0, 62));
  EXPECT_TRUE(chunk.domain(1).Bit(0, 63));
}

TEST(TraceWriterTest, ChunksGoOnWhereTheLastEnded) {
  TraceWriter writer({{}, {false}}, 64);
  At(writer, 1, 0);
  for (int i = 0; i < 64; ++i) At(writer, 0, 1);
  EXPECT_TRUE(writer.full());
  EXPECT_EQ(Before(writer.Finish()), (Cycles{0, 0}));
  writer.Begin();
  // No reference edge at all.
  for (int i = 0; i < 64; ++i) At(writer, 0, 1);
  EXPECT_TRUE(writer.full());
  const TraceChunk& idle = writer.Finish();
  EXPECT_EQ(idle.range(), (CycleRange{1, 1}));
  EXPECT_EQ(idle.domain(1).range(), (CycleRange{64, 128}));
  EXPECT_EQ(Before(idle), (Cycles{0}));
  EXPECT_EQ(idle.CyclesHeld(1, 1), 128u);
  writer.Begin();
  At(writer, 1, 1);
  EXPECT_EQ(Before(writer.Finish()), (Cycles{0, 129}));
  writer.Begin();
  EXPECT_TRUE(writer.empty());
  At(writer, 1, 0);
  EXPECT_EQ(Before(writer.Finish()), (Cycles{129, 129}));
}

TEST(TraceWriterTest, EdgesAtOneTimeAreBoundedWithSeveralClocks) {
  TraceWriter writer({{}, {false}}, 64);
  for (uint64_t i = 0; i < TraceWriter::kEdgesPerTimeMax; ++i) ASSERT_TRUE(writer.Tick(1));
  EXPECT_FALSE(writer.Tick(1));
  EXPECT_EQ(writer.cycles(1), TraceWriter::kEdgesPerTimeMax);
  EXPECT_TRUE(writer.Tick(0));
  writer.TimePasses();
  EXPECT_TRUE(writer.Tick(1));
}

}  // namespace
}  // namespace sideband::sim
