// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_state.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::sim {
namespace {

// The wires' bits over 4 cycles of a signal that is 0 in cycle 0, then takes the values of `digits`.
std::vector<std::string> Bits(uint32_t width, Probe probe, uint32_t wires, const std::vector<std::string>& digits) {
  SignalProbes probes({width});
  TraceWriter writer({std::vector<bool>(wires)}, 64);
  probes.Add(probe);
  probes.Start(writer);
  VcdValue value;
  uint64_t cycle = 0;
  for (const std::string& text : digits) {
    EXPECT_TRUE(value.Parse(text));
    writer.Tick(0);
    ++cycle;
    if (width <= 64 && text.size() == width) {
      probes.SetWord(0, value.words()[0]);
    } else {
      probes.Set(0, value);
    }
    probes.Commit(writer);
  }
  writer.Tick(0);
  const PackedWires& window = writer.Finish().domain(0);
  std::vector<std::string> bits(wires);
  for (uint64_t i = 0; i <= cycle; ++i) {
    for (WireId wire = 0; wire < wires; ++wire) bits[wire] += window.Bit(wire, i) ? '1' : '0';
  }
  return bits;
}

std::string OneBit(uint32_t width, const Probe& probe, const std::vector<std::string>& digits) {
  return Bits(width, probe, 1, digits)[0];
}

TEST(SignalProbesTest, OneWireOps) {
  const std::vector<std::string> digits = {"101", "000", "010", "x1x"};
  EXPECT_EQ(OneBit(3, {.op = EventOp::kHigh, .position = {}}, digits), "01011");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kLow, .position = {}}, digits), "10100");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kEquals, .position = {}, .value = 5}, digits), "01000");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kEquals, .position = {}, .value = 0}, digits), "10100");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kEquals, .position = {}, .value = 8}, digits), "00000") << "no such value";
}

TEST(SignalProbesTest, SelectedBit) {
  const std::vector<std::string> digits = {"101", "000", "010", "110"};
  EXPECT_EQ(OneBit(3, {.op = EventOp::kHigh, .position = 0}, digits), "01000");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kHigh, .position = 2}, digits), "01001");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kLow, .position = 1}, digits), "11100");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kEquals, .position = 1, .value = 1}, digits), "00011");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kEquals, .position = 1, .value = 0}, digits), "11100");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kPopcount, .position = 1}, digits), "00011");
  EXPECT_EQ(OneBit(3, {.op = EventOp::kValue, .position = 1}, digits), "00011");
}

TEST(SignalProbesTest, SpreadOpsHaveOneWirePerBit) {
  const std::vector<std::string> expected = {"01001", "00011", "01010"};
  const std::vector<std::string> digits = {"101", "000", "110", "011"};
  EXPECT_EQ(Bits(3, {.op = EventOp::kPopcount, .position = {}}, 3, digits), expected);
  EXPECT_EQ(Bits(3, {.op = EventOp::kValue, .position = {}}, 3, digits), expected);
}

TEST(SignalProbesTest, PrescaledPopcountHasTheDigitsOfTheCount) {
  const Probe popcount{.op = EventOp::kPopcount, .prescaled = true, .position = {}};
  EXPECT_EQ(WiresOf(popcount, 1), 1u);
  EXPECT_EQ(WiresOf(popcount, 3), 2u);
  EXPECT_EQ(WiresOf(popcount, 4), 3u) << "4 takes three digits";
  EXPECT_EQ(WiresOf(popcount, 1024), 11u);
  EXPECT_EQ(WiresOf({.op = EventOp::kValue, .prescaled = true, .position = {}}, 4), 4u);
  // 3, 0, 1 and 4 bits are set.
  const std::vector<std::string> expected = {"01010", "01000", "00001"};
  EXPECT_EQ(Bits(4, popcount, 3, {"1101", "0000", "0100", "1111"}), expected);
  const std::string all(70, '1');
  EXPECT_EQ(Bits(70, popcount, 7, {all, "1"}),
            (std::vector<std::string>{"001", "010", "010", "000", "000", "000", "010"}));
}

TEST(SignalProbesTest, WideSignals) {
  const std::string top = "1" + std::string(129, '0');
  EXPECT_EQ(OneBit(130, {.op = EventOp::kHigh, .position = {}}, {top, "0"}), "010");
  EXPECT_EQ(OneBit(130, {.op = EventOp::kHigh, .position = 129}, {top, "1"}), "010") << "short values clear the rest";
  EXPECT_EQ(OneBit(130, {.op = EventOp::kEquals, .position = {}, .value = 0}, {top, "0"}), "101");
  EXPECT_EQ(OneBit(130, {.op = EventOp::kEquals, .position = {}, .value = 1}, {top, "1"}), "001");
  EXPECT_EQ(Bits(130, {.op = EventOp::kPopcount, .position = {}}, 130, {top, "1"})[129], "010");
  EXPECT_EQ(Bits(130, {.op = EventOp::kPopcount, .position = {}}, 130, {top, "1"})[0], "001");
}

}  // namespace

}  // namespace sideband::sim
