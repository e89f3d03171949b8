// SPDX-License-Identifier: Apache-2.0
//
// Exits of a recorded waveform, and slices that the hypervisor has for itself (virtual-counters.md, laws V1, V4, V7).
// The truth is counted cycle by cycle from the drawn values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "secure_mcu/device/replay.h"
#include "sim/waveform/test_files.h"

namespace sideband::mcu {
namespace {

using sim::WriteTestFile;

constexpr uint64_t kCycles = 2000;
constexpr uint32_t kSlices = 2;

constexpr char kExitSignals[] = R"({"clock": "TOP.clk", "events": [
{"name": "any", "signal": "TOP.lanes", "op": "value"},
{"name": "guest", "signal": "TOP.lanes", "op": "value", "mode": "guest"},
{"name": "host", "signal": "TOP.lanes", "op": "value", "mode": "host"},
{"name": "device", "signal": "TOP.lanes", "op": "value", "scope": "device"}]}
)";

// A waveform, and who works on each slice in each cycle.
class DrawnExits {
 public:
  using Counts = std::array<uint64_t, 4>;  // in the order of kExitSignals

  explicit DrawnExits(uint32_t seed) : random_(seed) {
    for (uint32_t& value : lanes_) value = Below(8);
    for (uint32_t slice = 0; slice < kSlices; ++slice) DrawSlice(slice);
    CountAll();
  }

  ReplayInputs Inputs() const {
    return {.signals = WriteTestFile(kExitSignals, "S.json"),
            .trace = WriteTestFile(Trace(), "T.vcd"),
            .schedule = WriteTestFile(absl::StrCat("start_cycle,end_cycle,vm,context,slice\n", schedule_), "C.csv"),
            .peeks = "",
            .exits = WriteTestFile(absl::StrCat("slice,start_cycle,end_cycle\n", exits_), "E.csv")};
  }
  const std::map<std::string, Counts>& blocks() const { return blocks_; }

 private:
  struct Who {
    std::string vm, context;  // as in the schedule; empty: nobody
    bool is_host = false;
  };

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void DrawSlice(uint32_t slice) {
    who_[slice].resize(kCycles);
    for (uint64_t cycle = Below(5); cycle < kCycles;) {
      const uint64_t end = cycle + 1 + Below(Below(3) == 0 ? 3 : 120);
      const uint32_t who = Below(5);  // vm1, vm1/a, vm1/b, vm2/a, the hypervisor
      const std::string vm = who == 4 ? "vm0" : who == 3 ? "vm2" : "vm1";
      const std::string context = who == 0 || who == 4 ? "" : who == 2 ? "b" : "a";
      absl::StrAppend(&schedule_, cycle, ",", end, ",", vm, ",", context, ",", slice, "\n");
      for (uint64_t at = cycle; at < std::min(end, kCycles); ++at) who_[slice][at] = {vm, context, who == 4};
      if (who != 4) DrawExits(slice, cycle, end);
      cycle = end + (Below(2) == 0 ? 0 : Below(30));
    }
  }

  void DrawExits(uint32_t slice, uint64_t begin, uint64_t end) {
    for (uint64_t start = begin + Below(4); start < end;) {
      const uint64_t stop = std::min<uint64_t>(end, start + 1 + Below(20));
      absl::StrAppend(&exits_, slice, ",", start, ",", stop, "\n");
      for (uint64_t at = start; at < std::min(stop, kCycles); ++at) who_[slice][at].is_host = true;
      start = stop + Below(12);
    }
  }

  void CountAll() {
    for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
      blocks_["vm0/"][3] += lanes_[cycle];
      for (uint32_t slice = 0; slice < kSlices; ++slice) CountCycle(slice, cycle);
    }
  }

  void CountCycle(uint32_t slice, uint64_t cycle) {
    const Who& who = who_[slice][cycle];
    if (who.vm.empty()) return;
    std::vector<std::string> names = {"vm0/"};
    if (who.vm == "vm0") {
      names.push_back(absl::StrCat("vm0/slice", slice));
    } else {
      names.push_back(who.vm + "/");
      if (!who.context.empty()) names.push_back(absl::StrCat(who.vm, "/", who.context));
    }
    for (const std::string& name : names) {
      blocks_[name][0] += lanes_[cycle];
      blocks_[name][who.is_host ? 2 : 1] += lanes_[cycle];
    }
  }

  // The value of a cycle is there before its edge.
  std::string Trace() const {
    std::string text =
        "$timescale 1ns $end\n$scope module TOP $end\n$var wire 1 ! clk $end\n$var wire 3 # lanes [2:0] $end\n"
        "$upscope $end\n$enddefinitions $end\n";
    for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
      const uint32_t value = lanes_[cycle];
      absl::StrAppend(&text, "#", 10 * cycle, "\n0!\nb", value >> 2, value >> 1 & 1, value & 1, " #\n#", 10 * cycle + 5,
                      "\n1!\n");
    }
    return text;
  }

  std::mt19937 random_;
  std::array<uint32_t, kCycles> lanes_;
  std::array<std::vector<Who>, kSlices> who_;
  std::string schedule_, exits_;
  std::map<std::string, Counts> blocks_;
};

TEST(ExitsTest, EveryCountIsThatOfItsCycles) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const DrawnExits drawn(seed);
    const auto result = Replay(drawn.Inputs(), {});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->blocks.size(), drawn.blocks().size()) << seed;
    for (const ReplayBlock& block : result->blocks) {
      const DrawnExits::Counts& expected = drawn.blocks().at(block.vm + "/" + block.context);
      EXPECT_EQ(block.counters, std::vector<uint64_t>(expected.begin(), expected.end()))
          << block.vm << "/" << block.context << ", seed " << seed;
      EXPECT_TRUE(block.flags.empty());
    }
  }
}

// V4 and V7, from the blocks alone.
TEST(ExitsTest, ModesAndBlocksAddUp) {
  const auto result = Replay(DrawnExits(99).Inputs(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<uint64_t> parts(4);
  for (const ReplayBlock& block : result->blocks) {
    EXPECT_EQ(block.counters[0], block.counters[1] + block.counters[2]) << block.vm << "/" << block.context;
    const bool is_part = block.vm == "vm0" ? !block.context.empty() : block.context.empty();
    for (size_t i = 0; is_part && i < 3; ++i) parts[i] += block.counters[i];
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(result->blocks[0].counters[i], parts[i]) << i;
  EXPECT_GT(result->blocks[0].counters[2], 0u);
}

class SmallExitsTest : public testing::Test {
 protected:
  // `lanes` is the number of the cycle, 0 to 7.
  SmallExitsTest() {
    std::string trace =
        "$timescale 1ns $end\n$scope module TOP $end\n$var wire 1 ! clk $end\n$var wire 3 # lanes [2:0] $end\n"
        "$upscope $end\n$enddefinitions $end\n";
    for (int cycle = 0; cycle < 8; ++cycle) {
      absl::StrAppend(&trace, "#", 10 * cycle, "\n0!\nb", cycle >> 2, cycle >> 1 & 1, cycle & 1, " #\n#",
                      10 * cycle + 5, "\n1!\n");
    }
    inputs_ = {.signals = WriteTestFile(kExitSignals, "S.json"),
               .trace = WriteTestFile(trace, "T.vcd"),
               .schedule = "",
               .peeks = "",
               .exits = ""};
    Schedule("0,4,vm1,a\n4,6,vm0,\n");
  }
  void Schedule(const std::string& rows) {
    inputs_.schedule = WriteTestFile("start_cycle,end_cycle,vm,context\n" + rows, "C.csv");
  }
  void Exits(const std::string& rows) {
    inputs_.exits = WriteTestFile("slice,start_cycle,end_cycle\n" + rows, "E.csv");
  }
  std::string Error() const {
    const std::string message(Replay(inputs_, {}).status().message());
    return message.substr(message.find('_', message.rfind('/')) + 1);
  }

  ReplayInputs inputs_;
};

TEST_F(SmallExitsTest, TheHypervisorsSlicesAreBlocksOfVmZero) {
  Exits("0,1,3\n");
  inputs_.peeks = WriteTestFile("cycle,vm,context,event\n3,vm1,a,host\n5,vm0,slice0,host\n5,vm0,,any\n", "P.csv");
  std::vector<std::string> names;
  const auto result = Replay(inputs_, {.progress = nullptr, .switches = [&](const ReplaySwitch& event) {
                                         if (event.step.step == SwitchStep::kHalt)
                                           names.push_back(event.from + ">" + event.to);
                                       }});
  ASSERT_TRUE(result.ok()) << result.status();
  using Counts = std::vector<uint64_t>;
  ASSERT_EQ(result->blocks.size(), 4u);
  EXPECT_EQ(result->blocks[0].counters, (Counts{15, 3, 12, 28}));
  EXPECT_EQ(result->blocks[1].vm, "vm0");
  EXPECT_EQ(result->blocks[1].context, "slice0");
  EXPECT_EQ(result->blocks[1].counters, (Counts{9, 0, 9, 0}));
  EXPECT_EQ(result->blocks[3].counters, (Counts{6, 3, 3, 0})) << "vm1/a: cycles 1 and 2 are the hypervisor's";
  EXPECT_EQ(names, (std::vector<std::string>{">vm1/a", "vm1/a>vm0/slice0", "vm0/slice0>", ">"}));
  ASSERT_EQ(result->peeks.size(), 3u);
  EXPECT_EQ(result->peeks[0].count, 3u);
  EXPECT_EQ(result->peeks[1].count, 4u);
  EXPECT_EQ(result->peeks[2].count, 10u);
}

TEST_F(SmallExitsTest, WithoutModesExitsChangeNothingAndThatIsSaid) {
  inputs_.signals = WriteTestFile(R"({"clock": "TOP.clk", "events": [
{"name": "any", "signal": "TOP.lanes", "op": "value"}]})",
                                  "S.json");
  const auto without = Replay(inputs_, {});
  Exits("0,1,3\n");
  const auto with = Replay(inputs_, {});
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(FormatJson(*with), FormatJson(*without));
  EXPECT_TRUE(without->warnings.empty());
  ASSERT_EQ(with->warnings.size(), 1u);
  EXPECT_EQ(with->warnings[0], inputs_.exits + ": no event has a mode: exits change no count");
}

TEST_F(SmallExitsTest, WhatIsWrongIsNamed) {
  Exits("0,1,3\n0,3,5\n");
  EXPECT_EQ(Error(), "E.csv:3: cycles 3 to 5 are not within a residency of a VM on slice 0");
  inputs_.exits = "";
  Schedule("0,4,vm0,a\n");
  EXPECT_EQ(Error(), "C.csv:2: vm0 is the hypervisor, which has no contexts");
  Schedule("0,4,vm1,a\n");
  inputs_.signals = WriteTestFile(R"({"clock": "TOP.clk", "events": [
{"name": "any", "signal": "TOP.lanes", "op": "value", "scope": "device", "mode": "host"}]})",
                                  "S.json");
  EXPECT_EQ(Error(), "S.json:2: an event of the whole device has no mode");
  inputs_.signals = WriteTestFile(R"({"clock": "TOP.clk", "events": [
{"name": "any", "signal": "TOP.lanes", "op": "value", "mode": "hots"}]})",
                                  "S.json");
  EXPECT_EQ(Error(), "S.json:2: unknown mode 'hots' (did you mean 'host'?)");
}

}  // namespace
}  // namespace sideband::mcu
