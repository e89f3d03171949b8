// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "sim/waveform/test_files.h"

namespace sideband::mcu {
namespace {

using sim::WriteTestFile;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(PeekListTest, ReadsRows) {
  const auto peeks = ParsePeeks("event,cycle,context,vm\nbusy,7,ctx0,vm1\nbusy,7,,vm0\n", "P.csv");
  ASSERT_TRUE(peeks.ok()) << peeks.status();
  ASSERT_EQ(peeks->size(), 2u);
  EXPECT_EQ(peeks->at(0).cycle, 7u);
  EXPECT_EQ(peeks->at(0).vm, "vm1");
  EXPECT_EQ(peeks->at(0).context, "ctx0");
  EXPECT_EQ(peeks->at(0).event, "busy");
  EXPECT_EQ(peeks->at(1).line, 3u);
}

TEST(PeekListTest, EveryMistakeHasItsLine) {
  const auto error_of = [](const std::string& text) {
    return std::string(ParsePeeks(text, "P.csv").status().message());
  };
  EXPECT_EQ(error_of(""), "P.csv:1: the header row is missing");
  EXPECT_EQ(error_of("cycle,vm,contxt,event\n"), "P.csv:1: the header row has no column 'context' (is it 'contxt'?)");
  EXPECT_EQ(error_of("cycle,vm,context,event\nx,vm1,,busy\n"),
            "P.csv:2: cycle: expected a whole number up to 18446744073709551615, not 'x'");
  EXPECT_EQ(error_of("cycle,vm,context,event\n5,vm1,,busy\n4,vm1,,busy\n"),
            "P.csv:3: cycle 4 is below that of the row before, 5");
  EXPECT_EQ(error_of("cycle,vm,context,event\n5,vm1,busy\n"), "P.csv:2: expected 4 fields as in the header row, not 3");
}

using Warnings = std::vector<std::string>;

constexpr char kHeader[] =
    "$scope module t $end $var wire 1 ! clk $end $var wire 1 c still $end $var wire 2 # v [1:0] $end $upscope $end\n"
    "$enddefinitions $end\n";

class WarningsTest : public testing::Test {
 protected:
  Warnings Of(const std::string& body, const std::string& schedule, const std::string& event = R"("op": "high")") {
    signals_ =
        WriteTestFile(R"({"clock": "t.clk", "events": [{"name": "e", "signal": "t.v", )" + event + "}]}", "S.json");
    trace_ = WriteTestFile(kHeader + body + "\n");
    schedule_ = WriteTestFile("start_cycle,end_cycle,vm,context\n" + schedule, "C.csv");
    const auto result = Replay({signals_, trace_, schedule_}, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->warnings : Warnings{};
  }

  std::string signals_, trace_, schedule_;
};

// Cycles 0 to 3 at 5, 15, 25 and 35.
constexpr char kBody[] = "#0 0! #5 1! #10 0! #15 1! #20 0! #25 1! #30 0! #35 1!";

TEST_F(WarningsTest, NoneWhereAllIsCounted) {
  EXPECT_EQ(Of(kBody, "0,2,vm1,\n3,4,vm2,\n", R"("op": "equals", "value": 3)"), Warnings{});
}

TEST_F(WarningsTest, ClocksThatNeverRise) {
  const Warnings clock = Of("#0 1! #5 0!", "0,2,vm1,\n");
  EXPECT_EQ(clock, (Warnings{trace_ + ": clock 't.clk' never rises: its events count 0"}));
  const Warnings other = Of(kBody, "0,2,vm1,\n", R"("op": "high", "clock": "t.still")");
  EXPECT_EQ(other, (Warnings{trace_ + ": clock 't.still' never rises: its events count 0"}));
}

TEST_F(WarningsTest, AScheduleAfterTheEnd) {
  const Warnings late = Of(kBody, "4,6,vm1,\n7,8,vm1,\n");
  EXPECT_EQ(late, (Warnings{schedule_ + ": every residency begins after the trace, which ends with cycle 3: all VMs "
                                        "count 0 (are these times, not cycles?)",
                            signals_ + ":1: the clock 't.clk' rises only 4 times"}));
  EXPECT_EQ(Of("#0 0! #5 1!", "4,6,vm1,\n").back(), signals_ + ":1: the clock 't.clk' rises only once");
}

TEST_F(WarningsTest, AScheduleWithoutResidencies) {
  EXPECT_EQ(Of(kBody, ""), (Warnings{schedule_ + ": no residency: nothing is counted; a design without VMs needs one "
                                                 "such as 0,8000,vm1,"}));
}

TEST_F(WarningsTest, ResidenciesBeyondTheEnd) {
  const Warnings one = Of(kBody, "0,2,vm1,\n3,5,vm1,\n");
  EXPECT_EQ(one, (Warnings{schedule_ +
                           ":3: the residency ends with cycle 4, the trace with cycle 3: what is missing counts 0"}));
  const Warnings more = Of(kBody, "0,9,vm1,\n9,10,vm1,\n20,30,vm2,\n");
  EXPECT_EQ(more, (Warnings{schedule_ + ":2: the residency ends with cycle 8, the trace with cycle 3: what is missing "
                                        "counts 0; likewise 2 more"}));
  const Warnings late = Of(kBody, "0,4,vm1,\n4,10,vm1,\n");
  EXPECT_EQ(late,
            (Warnings{schedule_ + ":3: the residency begins with cycle 4 and the trace ends with cycle 3: what is "
                                  "missing counts 0"}));
  EXPECT_EQ(Of(kBody, "3,4,vm1,\n"), Warnings{});
}

TEST_F(WarningsTest, AValueThatDoesNotFit) {
  const Warnings warnings = Of(kBody, "0,2,vm1,\n", R"("op": "equals", "value": 4)");
  EXPECT_EQ(warnings, (Warnings{signals_ + ":1: event 'e' counts 0: value 4 does not fit into 2 bits of 't.v'"}));
}

TEST_F(WarningsTest, ADumpThatIsOffWithinAResidency) {
  const std::string body = "#0 0! #5 1! #10 0!\n$dumpoff x! bx # $end #12 $dumpon 0! $end #15 1! #20 0! #25 1!";
  const Warnings within = Of(body, "0,1,vm1,\n1,3,vm2,\n");
  EXPECT_EQ(within, Warnings{}) << "between the two";
  const Warnings one = Of(body, "0,3,vm1,\n");
  EXPECT_EQ(one, (Warnings{trace_ + ":4: $dumpoff from cycle 1 to 1, within the residency of " + schedule_ +
                           ":2: events in these cycles are not counted"}));
  const Warnings open = Of("#0 0! #5 1! #10 0! #15 1! $dumpoff $end #20 0! #25 1!", "1,2,vm1,\n2,3,vm2,\n");
  EXPECT_EQ(open, (Warnings{trace_ + ":3: $dumpoff from cycle 2 on, within the residency of " + schedule_ +
                            ":3: events in these cycles are not counted"}));
}

TEST_F(WarningsTest, ManyGapsAreSummedUp) {
  std::string body = "#0 0! #5 1! ";
  for (int i = 0; i < 20; ++i) body += "$dumpoff $end $dumpon $end ";
  const Warnings warnings = Of(body + "#10 0! #15 1!", "0,2,vm1,\n");
  ASSERT_EQ(warnings.size(), 17u);
  EXPECT_EQ(warnings.back(), trace_ + ": 4 more $dumpoff within residencies");
}

// Four cycles; `busy` is 0, 1, 1, 0 and `lanes` 0, 1, 3, 2 before the edges.
constexpr char kTrace[] =
    "$timescale 1ns $end\n$scope module TOP $end\n$var wire 1 ! clk $end\n$var wire 1 \" busy $end\n"
    "$var wire 2 # lanes [1:0] $end\n$upscope $end\n$enddefinitions $end\n"
    "#0\n0!\n0\"\nb0 #\n#5\n1!\n1\"\nb1 #\n#10\n0!\n#15\n1!\nb11 #\n#20\n0!\n#25\n1!\n0\"\nb10 #\n#30\n0!\n#35\n1!\n";
constexpr char kReplaySignals[] =
    "{\"clock\": \"TOP.clk\", \"events\": [\n"
    "{\"name\": \"busy\", \"signal\": \"TOP.busy\", \"op\": \"high\"},\n"
    "{\"name\": \"lanes\", \"signal\": \"TOP.lanes\", \"op\": \"popcount\", \"ulc\": \"u\"},\n"
    "{\"name\": \"sum\", \"signal\": \"TOP.lanes\", \"op\": \"value\"},\n"
    "{\"name\": \"busy\", \"signal\": \"TOP.busy\", \"op\": \"high\"}]}\n";

ReplayInputs InputsOf(const std::string& schedule) {
  return {WriteTestFile(kReplaySignals, "S.json"), WriteTestFile(kTrace, "T.vcd"),
          WriteTestFile("start_cycle,end_cycle,vm,context\n" + schedule, "C.csv")};
}

TEST(ReplayTest, CountsForWhoIsResident) {
  const auto result = Replay(InputsOf("0,2,vm1,a\n2,3,vm1,b\n3,100,vm2,a\n"), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->cycles, 4u);
  EXPECT_EQ(result->events, (std::vector<std::string>{"busy", "lanes", "sum"})) << "events of one name are one counter";
  using Counts = std::vector<uint64_t>;
  const std::map<std::string, Counts> expected = {
      {"vm0/", {4, 4, 6}},  {"vm1/", {4, 3, 4}}, {"vm1/a", {2, 1, 1}},
      {"vm1/b", {2, 2, 3}}, {"vm2/", {0, 1, 2}}, {"vm2/a", {0, 1, 2}},
  };
  ASSERT_EQ(result->blocks.size(), expected.size());
  for (const ReplayBlock& block : result->blocks) {
    EXPECT_EQ(block.counters, expected.at(block.vm + "/" + block.context)) << block.vm << "/" << block.context;
    EXPECT_TRUE(block.flags.empty());
  }
}

// busy is 0, 1, 1, 0; vm1 is resident in cycles 0 to 2, first in context a, then b. Nothing has been latched yet.
TEST(ReplayTest, ReadsLiveCountsWithoutATrace) {
  ReplayInputs inputs = InputsOf("0,2,vm1,a\n2,3,vm1,b\n3,100,vm2,a\n");
  const auto without = Replay(inputs, {});
  inputs.peeks = WriteTestFile(
      "cycle,vm,context,event\n0,vm1,a,busy\n1,vm1,a,busy\n2,vm1,a,busy\n2,vm1,,busy\n"
      "3,vm1,b,busy\n3,vm1,,sum\n4,vm0,,busy\n4,vm2,a,lanes\n900,vm1,a,busy\n",
      "P.csv");
  const auto result = Replay(inputs, {});
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<uint64_t> counts;
  for (const ReplayPeek& peek : result->peeks) counts.push_back(peek.count);
  EXPECT_EQ(counts, (std::vector<uint64_t>{0, 0, 2, 2, 2, 4, 4, 1})) << "nothing is read beyond the end";
  EXPECT_EQ(result->warnings.back(), inputs.peeks + ":10: no count at cycle 900, the trace has 4 cycles");
  EXPECT_EQ(FormatTable(*without), FormatTable({result->cycles, result->events, result->blocks, {}, {}}));
  EXPECT_NE(FormatJson(*result).find("{\"cycle\":2,\"vm\":\"vm1\",\"context\":null,\"event\":\"busy\",\"count\":2}"),
            std::string::npos);
  EXPECT_NE(FormatTable(*result).find("at cycle 3: vm1/b busy 2\n"), std::string::npos);
}

TEST(ReplayTest, ALiveCountOfNothingIsRefused) {
  ReplayInputs inputs = InputsOf("0,2,vm1,a\n");
  const auto error_of = [&](const std::string& row) {
    inputs.peeks = WriteTestFile("cycle,vm,context,event\n" + row + "\n", "P.csv");
    const std::string message(Replay(inputs, {}).status().message());
    return message.substr(message.find("P.csv"));
  };
  EXPECT_EQ(error_of("1,vm9,,busy"), "P.csv:2: the schedule has no 'vm9'");
  EXPECT_EQ(error_of("1,vm1,z,busy"), "P.csv:2: the schedule has no 'vm1/z'");
  EXPECT_EQ(error_of("1,vm1,a,nothing"), "P.csv:2: the signal map has no event 'nothing'");
}

TEST(ReplayTest, ALiveCountTakesTheNameThatScreensShow) {
  const auto status_of = [](const std::string& event) {
    return Peeker::Create({{.cycle = 1, .vm = "vm0", .event = event, .line = 2}}, "P.csv",
                          {"sm_active_cycles", "tensor_active_cycles"}, {})
        .status();
  };
  EXPECT_TRUE(status_of("tensor_active_cycles").ok());
  EXPECT_TRUE(status_of("tensor_active").ok());
  EXPECT_EQ(status_of("tensor").message(),
            "P.csv:2: the signal map has no event 'tensor' (did you mean 'tensor_active_cycles'?)");
}

TEST(ReplayTest, ResidencyBeyondTheTraceHasABlockOfZeros) {
  const auto result = Replay(InputsOf("0,1,vm1,a\n50,60,vm2,b\n"), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->blocks.back().context, "b");
  EXPECT_EQ(result->blocks.back().counters, (std::vector<uint64_t>{0, 0, 0}));
}

TEST(ReplayTest, SlicesCountAtTheSameTime) {
  ReplayInputs inputs = InputsOf("");
  inputs.schedule = WriteTestFile("start_cycle,end_cycle,vm,context,slice\n0,3,vm1,a,0\n2,4,vm2,b,1\n", "C.csv");
  const auto result = Replay(inputs, {});
  ASSERT_TRUE(result.ok()) << result.status();
  using Counts = std::vector<uint64_t>;
  EXPECT_EQ(result->blocks[2].counters, (Counts{4, 3, 4})) << "vm1/a in cycles 0 to 2";
  EXPECT_EQ(result->blocks[4].counters, (Counts{2, 3, 5})) << "vm2/b in cycles 2 and 3";
  EXPECT_EQ(result->blocks[0].counters, (Counts{6, 6, 9})) << "the hypervisor's is the sum of both";
}

TEST(ReplayTest, OneCounterIsCountedInOneWay) {
  const struct {
    const char* second;
    const char* message;
  } kCases[] = {
      {R"("op": "value", "count": "prescaled")", ":3: event 'sum' is counted both in full and prescaled"},
      {R"("op": "value", "scope": "device")", ":3: event 'sum' is both of contexts and of the device"},
  };
  for (const auto& test : kCases) {
    ReplayInputs inputs = InputsOf("0,2,vm1,a\n");
    inputs.signals = WriteTestFile(std::string(R"({"clock": "TOP.clk", "events": [
{"name": "sum", "signal": "TOP.lanes", "op": "value"},
{"name": "sum", "signal": "TOP.lanes", )") +
                                       test.second + "}]}\n",
                                   "S.json");
    EXPECT_EQ(std::string(Replay(inputs, {}).status().message()), inputs.signals + test.message);
  }
}

TEST(ReplayTest, APrescaledNumberIsAThirtySecondOfEachResidency) {
  // `lanes` is 0, 1, 3, 2. With a factor of 32 the sums of the residencies are 32 and 160.
  std::string trace(kTrace);
  for (const auto& [from, to] :
       {std::pair("lanes [1:0]", "lanes [6:0]"), std::pair("$var wire 2", "$var wire 7"),
        std::pair("b1 #", "b100000 #"), std::pair("b11 #", "b1100000 #"), std::pair("b10 #", "b1000001 #")}) {
    trace.replace(trace.find(from), std::string(from).size(), to);
  }
  ReplayInputs inputs = InputsOf("0,2,vm1,a\n2,4,vm1,b\n");
  inputs.trace = WriteTestFile(trace, "T.vcd");
  inputs.signals = WriteTestFile(R"({"clock": "TOP.clk", "events": [
{"name": "sum", "signal": "TOP.lanes", "op": "value", "count": "prescaled"}]})",
                                 "S.json");
  const auto result = Replay(inputs, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->blocks[2].counters, (std::vector<uint64_t>{1})) << "0 + 32";
  EXPECT_EQ(result->blocks[3].counters, (std::vector<uint64_t>{5})) << "96 + 65 = 161, the remainder is dropped";
  EXPECT_EQ(result->blocks[0].counters, (std::vector<uint64_t>{6}));
}

TEST(ReplayTest, MissingFilesAreNamed) {
  for (const int which : {0, 1, 2}) {
    ReplayInputs inputs = InputsOf("");
    (which == 0 ? inputs.signals : which == 1 ? inputs.trace : inputs.schedule) = "/nonexistent";
    EXPECT_EQ(Replay(inputs, {}).status().message().substr(0, 12), "/nonexistent");
  }
}

// The reference waveforms, with counts from an independent script.
class ReferenceTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceTest, EqualsTheExpectedBlocksBitForBit) {
  const char* const data = std::getenv("SIDEBAND_SHARED_DATA");
  if (data == nullptr || *data == '\0') GTEST_SKIP() << "SIDEBAND_SHARED_DATA is not set: no reference waveforms";
  const std::string stem = std::string(data) + "/" + GetParam();
  const auto result =
      Replay({std::string(data) + "/tinygpu.signals.json", stem + ".vcd.gz", stem + ".schedule.csv"}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  const auto expected = nlohmann::json::parse(std::ifstream(stem + ".expected.json"));
  const auto actual = nlohmann::json::parse(FormatJson(*result));
  EXPECT_EQ(actual["cycles"], expected["cycles"]);
  ASSERT_EQ(actual["blocks"].size(), expected["blocks"].size());
  for (size_t i = 0; i < expected["blocks"].size(); ++i) {
    for (const char* key : {"vm", "context", "counters"}) {
      EXPECT_EQ(actual["blocks"][i][key], expected["blocks"][i][key]) << "block " << i << ", " << key;
    }
    EXPECT_TRUE(actual["blocks"][i]["flags"].empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Waveforms, ReferenceTest, testing::Values("tinygpu-small", "tinygpu"),
                         [](const auto& info) { return info.param == "tinygpu" ? "Whole" : "Small"; });

ReplayResult Example() {
  return {.cycles = 10,
          .events = {"busy", "stalled_cycles"},
          .blocks = {{.vm = "vm0", .counters = {1, 18446744073709551615u}},
                     {.vm = "vm1", .context = "c\"0", .counters = {0, 7}, .flags = {"overflow"}}}};
}

TEST(ReportTest, JsonIsTheContract) {
  EXPECT_EQ(FormatJson(Example()),
            "{\"cycles\":10,\"blocks\":["
            "{\"vm\":\"vm0\",\"context\":null,\"counters\":{\"busy\":1,\"stalled_cycles\":18446744073709551615},"
            "\"flags\":[]},"
            "{\"vm\":\"vm1\",\"context\":\"c\\\"0\",\"counters\":{\"busy\":0,\"stalled_cycles\":7},"
            "\"flags\":[\"overflow\"]}]}\n");
}

TEST(ReportTest, TableAlignsItsColumns) {
  EXPECT_EQ(FormatTable(Example()),
            "10 cycles\n"
            "\n"
            "event                            vm0  vm1/c\"0\n"
            "busy                               1        0\n"
            "stalled_cycles  18446744073709551615        7\n"
            "vm1/c\"0 is flagged: overflow\n");
}

// Replays with a rotation: what is refused, and what is printed. Whether the numbers are right is tested against an
// independent script (tests/lab/experiments). 400 cycles; `busy` is 1 in every other one.
std::string Trace() {
  std::string text =
      "$timescale 1ns $end\n$scope module TOP $end\n$var wire 1 ! clk $end\n$var wire 1 \" busy $end\n$upscope $end\n"
      "$enddefinitions $end\n#0\n0!\n0\"\n";
  for (int cycle = 0; cycle < 400; ++cycle) {
    absl::StrAppend(&text, "#", 10 * cycle + 5, "\n1!\n", cycle % 2, "\"\n#", 10 * cycle + 10, "\n0!\n");
  }
  return text;
}

std::string Signals(const std::string& more = "") {
  return "{\"clock\": \"TOP.clk\", \"events\": [\n"
         "{\"name\": \"busy\", \"signal\": \"TOP.busy\", \"op\": \"high\"},\n"
         "{\"name\": \"idle\", \"signal\": \"TOP.busy\", \"op\": \"low\"},\n"
         "{\"name\": \"starts\", \"signal\": \"TOP.busy\", \"op\": \"rise\"}" +
         more + "]}\n";
}

ReplayInputs RotationInputs(const std::string& rotation, const std::string& more = "") {
  return {.signals = WriteTestFile(Signals(more), "S.json"),
          .trace = WriteTestFile(Trace(), "T.vcd"),
          .schedule = WriteTestFile("start_cycle,end_cycle,vm,context\n0,200,vm1,a\n200,400,vm2,\n", "C.csv"),
          .peeks = "",
          .exits = "",
          .rotation = WriteTestFile(rotation, "R.yaml"),
          .seed = {}};
}

constexpr char kSlots[] = "slots: {stable: 16ns, fluctuating: 16ns}\nadapt: false\n";

std::string WithSlots(const std::string& keys) { return kSlots + keys; }

std::string Refused(const std::string& rotation, const std::string& more = "") {
  const std::string message(Replay(RotationInputs(rotation, more), {}).status().message());
  return message.substr(message.find('_', message.rfind('/')) + 1);
}

TEST(ReplayRotationTest, EventsTakeTurns) {
  const auto result = Replay(RotationInputs(WithSlots("counters: 1\n")), {});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->rotation.has_value());
  EXPECT_EQ(result->rotation->sets, (std::vector<std::vector<std::string>>{{"busy"}, {"idle"}, {"starts"}}));
  for (const ReplayBlock& block : result->blocks) {
    ASSERT_TRUE(block.rotation.has_value());
    EXPECT_EQ(block.rotation->enabled, block.vm == "vm0" ? 400u : 200u) << block.vm << block.context;
    EXPECT_EQ(block.flags, std::vector<std::string>{"estimated"});
    for (const ReplayEstimate& event : block.rotation->events) {
      EXPECT_EQ(event.lower, block.counters[event.event]);
      EXPECT_LE(event.lower, event.estimate);
      EXPECT_LE(event.estimate, event.upper);
    }
  }
}

TEST(ReplayRotationTest, TheRunIsAFunctionOfInputsAndSeed) {
  ReplayInputs inputs = RotationInputs(WithSlots("counters: 1\nseed: 5\n"));
  const std::string file = FormatJson(*Replay(inputs, {}));
  inputs.seed = 5;
  EXPECT_EQ(FormatJson(*Replay(inputs, {})), file);
  inputs.seed = 6;
  EXPECT_NE(FormatJson(*Replay(inputs, {})), file);
  EXPECT_EQ(FormatJson(*Replay(inputs, {})), FormatJson(*Replay(inputs, {})));
}

TEST(ReplayRotationTest, ARelationDerives) {
  const auto result = Replay(
      RotationInputs(WithSlots("counters: 1\nfixed: []\nrelations: [{sum: [busy, idle], of: resident_cycles}]\n")), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rotation->derived.size(), 1u);
  EXPECT_EQ(result->rotation->sets.size(), 2u);
}

// `busy` is at most `idle` in each slot of 16 cycles, until it is 1 from cycle 100 on.
TEST(ReplayRotationTest, ARelationThatTheWaveformBreaksIsFlagged) {
  ReplayInputs inputs =
      RotationInputs(WithSlots("counters: 2\nfixed: [idle]\nrelations: [{event: busy, at_most: idle}]\n"));
  using Flags = std::vector<std::string>;
  const auto expect_all = [&inputs](const Flags& flags) {
    const auto result = Replay(inputs, {});
    ASSERT_TRUE(result.ok()) << result.status();
    for (const ReplayBlock& block : result->blocks) EXPECT_EQ(block.flags, flags) << block.vm << block.context;
  };
  expect_all({"estimated"});
  const std::string trace = Trace();
  std::string broken = trace.substr(0, trace.find("#1005\n")) + "#1005\n1!\n1\"\n";
  for (int cycle = 101; cycle < 400; ++cycle) {
    absl::StrAppend(&broken, "#", 10 * cycle, "\n0!\n#", 10 * cycle + 5, "\n1!\n");
  }
  inputs.trace = WriteTestFile(broken + "#4000\n0!\n", "T.vcd");
  expect_all({"estimated", "rotation_inconsistent"});
}

// The residencies' last slots, of 8 cycles, are over before their dead cycles are.
TEST(ReplayRotationTest, DeadCyclesAreOfNoSlot) {
  ReplayInputs inputs = RotationInputs(WithSlots("counters: 2\nfixed: [busy]\ndead_cycles: 9\n"
                                                 "relations: [{sum: [busy, idle], of: resident_cycles}]\n"),
                                       ",\n{\"name\": \"starts2\", \"signal\": \"TOP.busy\", \"op\": \"rise\"}");
  const auto result = Replay(inputs, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rotation->fixed, std::vector<std::string>{"busy"});
  EXPECT_EQ(result->rotation->derived, std::vector<std::string>{"idle"});
  inputs.rotation.clear();
  const auto exact = Replay(inputs, {});
  for (size_t i = 0; i < result->blocks.size(); ++i) {
    const ReplayBlock& block = result->blocks[i];
    EXPECT_EQ(block.flags, std::vector<std::string>{"estimated"}) << "the relation holds";
    EXPECT_EQ(block.counters[0], exact->blocks[i].counters[0]) << "a fixed event is counted in dead cycles, too";
    EXPECT_LT(block.rotation->events[0].coverage, 1) << "a derived one is not";
  }
}

// Multiplexed events are in the reference clock; others are in clocks of their own, which the channel does not have.
TEST(ReplayRotationTest, OtherEventsHaveClocksOfTheirOwn) {
  for (const char* const scope : {"\"scope\": \"device\"", "\"slice\": 1"}) {
    const std::string other = absl::StrCat(
        ",\n{\"name\": \"other\", \"signal\": \"TOP.clk\", \"op\": \"high\", \"clock\": \"TOP.busy\", ", scope, "}");
    ReplayInputs inputs = RotationInputs(WithSlots("counters: 1\n"), other);
    inputs.schedule = WriteTestFile("start_cycle,end_cycle,vm,context,slice\n0,200,vm1,a,0\n0,400,vm2,,1\n", "C.csv");
    const auto result = Replay(inputs, {});
    ASSERT_TRUE(result.ok()) << result.status();
    for (const ReplayBlock& block : result->blocks) {
      if (block.context != "a") continue;
      EXPECT_EQ(block.rotation->enabled, 200u);
    }
  }
}

TEST(ReplayRotationTest, WithoutNeedAllIsAsWithoutARotation) {
  ReplayInputs inputs = RotationInputs("counters: 3\n");
  const auto with = Replay(inputs, {});
  inputs.rotation.clear();
  const auto without = Replay(inputs, {});
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(FormatJson(*with), FormatJson(*without));
  EXPECT_EQ(FormatTable(*with, true), FormatTable(*without));
  ASSERT_EQ(with->warnings.size(), 1u);
  EXPECT_THAT(with->warnings[0], EndsWith("R.yaml: every event has a counter: none takes turns"));
}

TEST(ReplayRotationTest, MistakesAreNamed) {
  EXPECT_EQ(Refused(kSlots), "R.yaml:1: 'counters' is missing: how many, of one bit each, a slice has for its events");
  EXPECT_EQ(Refused("counters: 1\nslots: {stable: 4ns, fluctuating: 16ns}\n"),
            "R.yaml:1: stable slot (cycles) is 4, must be from 8 to 1000000000000");
  EXPECT_EQ(Refused(WithSlots("counters: 1\nfixed: [bus]\n")), "R.yaml:4: no event 'bus' (did you mean 'busy'?)");
  EXPECT_THAT(Refused(WithSlots("counters: 1\nfixed: [busy]\n")), HasSubstr("one at least must be left"));
  EXPECT_EQ(Refused(WithSlots("counters: 1\n"),
                    ",\n{\"name\": \"guest\", \"signal\": \"TOP.busy\", \"op\": \"high\", \"mode\": \"guest\"}"),
            "S.json:5: event 'guest' has a mode: with a rotation, events count in both modes");
}

// Signals have clocks of their own; chip files have one clock.
TEST(ReplayRotationTest, RelationsOverSeveralClocksAreRefused) {
  constexpr char kOfBusy[] =
      ",\n{\"name\": \"by_busy\", \"signal\": \"TOP.clk\", \"op\": \"high\", "
      "\"clock\": \"TOP.busy\"}";
  EXPECT_EQ(Refused(WithSlots("counters: 2\nrelations:\n  - {event: by_busy, at_most: busy}\n"), kOfBusy),
            "R.yaml:5: events 'busy' and 'by_busy' are of different clock domains");
  EXPECT_EQ(Refused(WithSlots("counters: 2\nrelations:\n  - {event: starts, at_most: busy}\n"
                              "  - {sum: [by_busy, idle], of: resident_cycles}\n"),
                    kOfBusy),
            "R.yaml:6: events 'idle' and 'by_busy' are of different clock domains");
  EXPECT_EQ(Refused(WithSlots("counters: 2\nrelations: [{event: by_busy, is_sum_of: [busy, idle]}]\n"), kOfBusy),
            "R.yaml:4: events 'busy' and 'by_busy' are of different clock domains");
}

TEST(ReplayRotationTest, MoreThan64SetsAreRefused) {
  const auto signals = [](size_t more) {
    std::string text;
    for (size_t i = 0; i < more; ++i) {
      absl::StrAppend(&text, ",\n{\"name\": \"busy", i, "\", \"signal\": \"TOP.busy\", \"op\": \"high\"}");
    }
    return text;
  };
  EXPECT_TRUE(Replay(RotationInputs(WithSlots("counters: 1\n"), signals(61)), {}).ok());
  EXPECT_EQ(Refused(WithSlots("counters: 1\n"), signals(62)),
            "R.yaml:1: the events need 65 counter sets, of at most 64");
}

ReplayResult Printed() {
  ReplayResult result{.cycles = 90, .events = {"busy", "idle"}, .blocks = {}, .peeks = {}, .warnings = {}};
  result.rotation = ReplayRotation{.sets = {{"busy"}, {"idle"}}, .fixed = {}, .derived = {}};
  ReplayNumbers numbers{.enabled = 90, .running = {30, 0}, .events = {}};
  numbers.events.push_back(
      {.event = 0, .estimate = 60, .upper = 80, .standard_error = 5, .lower = 20, .coverage = 1.0 / 3});
  numbers.events.push_back({.event = 1, .upper = std::nullopt, .standard_error = std::nullopt, .lower = 0});
  result.blocks.push_back({"vm1", "a", {20, 0}, {"estimated"}, numbers});
  return result;
}

TEST(ReplayRotationTest, PrintsATable) {
  const std::string table =
      "90 cycles\n\n"
      "event  vm1/a\n"
      "busy     ~60\n"
      "idle       -\n"
      "vm1/a is flagged: estimated\n";
  EXPECT_EQ(FormatTable(Printed()), table);
  EXPECT_EQ(FormatTable(Printed(), true), table +
                                              "\nvm1/a: 90 cycles, of the sets 30, 0\n"
                                              "event  count  error  coverage  lower  upper\n"
                                              "busy     ~60     10     33.3%     20     80\n"
                                              "idle       -      -      0.0%      0      -\n");
}

TEST(ReplayRotationTest, PrintsJson) {
  const auto json = nlohmann::json::parse(FormatJson(Printed()));
  EXPECT_EQ(json["rotation"]["sets"][1][0], "idle");
  const auto& block = json["blocks"][0]["rotation"];
  EXPECT_EQ(block["enabled"], 90);
  EXPECT_EQ(block["running"], nlohmann::json({30, 0}));
  EXPECT_EQ(block["events"]["busy"]["standard_error"], 5);
  EXPECT_TRUE(block["events"]["idle"]["estimate"].is_null());
}

}  // namespace
}  // namespace sideband::mcu
