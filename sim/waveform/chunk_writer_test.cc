// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/chunk_writer.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace sideband::sim
