// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband::sim {
namespace {

std::string Bits(const PackedWires& window, WireId wire) {
  std::string bits;
  for (uint64_t cycle = window.range().begin; cycle < window.range().end; ++cycle) {
    bits += window.Bit(wire, cycle) ? '1' : '0';
  }
  return bits;
}

constexpr WireId kLevel = 0;
constexpr WireId kPulse = 1;

class ChunkWriterTest : public testing::Test {
 protected:
  void SetBoth(bool level, uint64_t cycle) {
    writer_.Set(kLevel, level, cycle);
    writer_.Set(kPulse, level, cycle);
  }

  ChunkWriter writer_{{false, true}, 64};
};

TEST_F(ChunkWriterTest, FillsRunsAndPulses) {
  SetBoth(true, 2);
  SetBoth(false, 5);
  SetBoth(true, 6);
  const PackedWires& window = writer_.Finish(8);
  EXPECT_EQ(Bits(window, kLevel), "00111011");
  EXPECT_EQ(Bits(window, kPulse), "00100010");
}

TEST_F(ChunkWriterTest, LevelsGoOnIntoTheNextWindow) {
  SetBoth(true, 2);
  EXPECT_EQ(Bits(writer_.Finish(4), kLevel), "0011");
  writer_.Begin();
  SetBoth(false, 6);
  const PackedWires& window = writer_.Finish(8);
  EXPECT_EQ(window.range(), (CycleRange{4, 8}));
  EXPECT_EQ(Bits(window, kLevel), "1100");
  EXPECT_EQ(Bits(window, kPulse), "0000") << "the rise was in the window before";
}

TEST_F(ChunkWriterTest, RiseAtTheVeryEndBelongsToTheNextWindow) {
  SetBoth(true, 4);
  EXPECT_EQ(Bits(writer_.Finish(4), kPulse), "0000");
  writer_.Begin();
  const PackedWires& window = writer_.Finish(6);
  EXPECT_EQ(Bits(window, kLevel), "11");
  EXPECT_EQ(Bits(window, kPulse), "10");
}

TEST_F(ChunkWriterTest, GlitchesBetweenCyclesAreNotSeen) {
  SetBoth(true, 1);
  SetBoth(false, 3);
  SetBoth(true, 3);  // restored before cycle 3: neither a gap nor a rise
  SetBoth(false, 5);
  SetBoth(true, 6);
  SetBoth(false, 6);  // cleared before cycle 6
  const PackedWires& window = writer_.Finish(8);
  EXPECT_EQ(Bits(window, kLevel), "01111000");
  EXPECT_EQ(Bits(window, kPulse), "01000000");
}

TEST_F(ChunkWriterTest, HighFromTheStartRisesInCycleZero) {
  SetBoth(true, 0);
  const PackedWires& window = writer_.Finish(3);
  EXPECT_EQ(Bits(window, kLevel), "111");
  EXPECT_EQ(Bits(window, kPulse), "100");
}

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
