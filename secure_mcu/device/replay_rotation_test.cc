// SPDX-License-Identifier: Apache-2.0
//
// Replays with a rotation: what is refused, and what is printed. Whether the numbers are right is tested against an
// independent script (tests/lab/experiments).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "secure_mcu/device/replay.h"
#include "sim/waveform/test_files.h"

namespace sideband::mcu {
namespace {

using sim::WriteTestFile;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// 400 cycles; `busy` is 1 in every other one.
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

// What turns is in the reference clock, and other events are in clocks of their own that the channel does not have.
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

// Of signals with clocks of their own: chip files have one clock.
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
