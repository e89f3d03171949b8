// SPDX-License-Identifier: Apache-2.0
//
// Events of units that slices share, of a recorded waveform whose requests carry tags. The truth is counted cycle by
// cycle from the drawn values: a request counts for the context that its tag names, if that is resident in its cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "secure_mcu/device/replay.h"
#include "sim/waveform/test_files.h"

namespace sideband::mcu {
namespace {

using sim::WriteTestFile;

constexpr uint32_t kSharingSlices = 2;

constexpr char kRequesterSignals[] = R"({"clock": "TOP.clk", "events": [
{"name": "hits", "signal": "TOP.hits", "op": "value", "requester": {"slice": "TOP.slice", "context": "TOP.context"}},
{"name": "guest_hits", "signal": "TOP.hits", "op": "popcount", "mode": "guest",
 "requester": {"slice": "TOP.slice", "context": "TOP.context"}},
{"name": "host_hits", "signal": "TOP.hits", "op": "popcount", "mode": "host",
 "requester": {"slice": "TOP.slice", "context": "TOP.context"}},
{"name": "idle", "signal": "TOP.hits", "op": "low", "ulc": "l2", "requester": {"slice": "TOP.slice"}},
{"name": "bytes", "signal": "TOP.hits", "op": "value", "clock": "TOP.mclk",
 "requester": {"slice": "TOP.slice", "context": "TOP.context"}},
{"name": "all_hits", "signal": "TOP.hits", "op": "value", "scope": "device"},
{"name": "all_idle", "signal": "TOP.hits", "op": "low", "scope": "device"},
{"name": "all_bytes", "signal": "TOP.hits", "op": "value", "clock": "TOP.mclk", "scope": "device"},
{"name": "own", "signal": "TOP.hits", "op": "high"}]}
)";

constexpr char kDeclarations[] =
    "$timescale 1ns $end\n$scope module TOP $end\n$var wire 1 ! clk $end\n$var wire 1 m mclk $end\n"
    "$var wire 3 # hits [2:0] $end\n$var wire 2 s slice [1:0] $end\n$var wire 3 c context [2:0] $end\n"
    "$upscope $end\n$enddefinitions $end\n";

using Counts = std::map<std::string, uint64_t>;  // by event
using Blocks = std::map<std::string, Counts>;    // by "VM/CONTEXT"

Blocks BlocksOf(const ReplayResult& result) {
  Blocks blocks;
  for (const ReplayBlock& block : result.blocks) {
    EXPECT_TRUE(block.flags.empty());
    for (size_t i = 0; i < result.events.size(); ++i) {
      const uint64_t count = block.counters[i];
      if (count > 0) blocks[block.vm + "/" + block.context][result.events[i]] = count;
    }
  }
  return blocks;
}

// A waveform, and who works on each slice in each cycle.
class DrawnRequests {
 public:
  DrawnRequests(uint32_t seed, uint64_t cycles) : random_(seed), cycles_(cycles) {
    for (uint32_t slice = 0; slice < kSharingSlices; ++slice) DrawSlice(slice);
    for (uint64_t cycle = 0; cycle < cycles_; ++cycle) requests_.push_back(DrawRequest(cycle));
    for (uint64_t cycle = 0; cycle < cycles_; ++cycle) CountCycle(cycle);
  }

  ReplayInputs Inputs() const {
    return {.signals = WriteTestFile(kRequesterSignals, "S.json"),
            .trace = WriteTestFile(Trace(), "T.vcd"),
            .schedule = WriteTestFile("start_cycle,end_cycle,vm,context,slice,tag\n" + schedule_, "C.csv"),
            .peeks = "",
            .exits = WriteTestFile("slice,start_cycle,end_cycle\n" + exits_, "E.csv")};
  }
  const Blocks& blocks() const { return blocks_; }

 private:
  struct Who {
    std::string vm, context;  // as in the schedule; empty: nobody
    std::optional<uint32_t> tag;
    bool is_host = false;
  };
  struct Request {
    uint32_t hits, slice, context;
    // Edges of the second clock: before the cycle's own edge, at the same time, and after it.
    std::array<bool, 3> edges;
  };

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void DrawSlice(uint32_t slice) {
    who_[slice].resize(cycles_ + 1);
    for (uint64_t cycle = Below(5); cycle < cycles_;) {
      const uint64_t end = cycle + 1 + Below(Below(3) == 0 ? 3 : 120);
      Who who = DrawWho();
      const std::string tag = who.tag ? absl::StrCat(*who.tag) : "";
      absl::StrAppend(&schedule_, cycle, ",", end, ",", who.vm, ",", who.context, ",", slice, ",", tag, "\n");
      for (uint64_t at = cycle; at < std::min(end, cycles_); ++at) who_[slice][at] = who;
      if (who.vm != "vm0") DrawExits(slice, cycle, end);
      cycle = end + (Below(2) == 0 ? 0 : Below(30));
    }
  }

  Who DrawWho() {
    switch (Below(5)) {
      case 0:
        return {"vm1", "", 1};
      case 1:
        return {"vm1", "a", 2};
      case 2:
        return {"vm1", "b", 3};
      case 3:
        return {"vm2", "a", 4};
      default:
        return {"vm0", "", Below(2) == 0 ? std::optional(5u) : std::nullopt, true};
    }
  }

  void DrawExits(uint32_t slice, uint64_t begin, uint64_t end) {
    for (uint64_t start = begin + Below(4); start < end;) {
      const uint64_t stop = std::min<uint64_t>(end, start + 1 + Below(20));
      absl::StrAppend(&exits_, slice, ",", start, ",", stop, "\n");
      for (uint64_t at = start; at < std::min(stop, cycles_); ++at) who_[slice][at].is_host = true;
      start = stop + Below(12);
    }
  }

  // Often of the resident, or of the one who was a little earlier: a request that comes late.
  Request DrawRequest(uint64_t cycle) {
    const uint32_t slice = Below(8) == 0 ? kSharingSlices + Below(2) : Below(kSharingSlices);
    Request request{.hits = Below(8), .slice = slice, .context = Below(8), .edges = {}};
    for (bool& edge : request.edges) edge = Below(2) == 0;
    if (cycle + 1 == cycles_) request.edges[2] = false;  // of no cycle of the reference
    const uint64_t at = Below(3) == 0 ? cycle - std::min<uint64_t>(cycle, 8) : cycle;
    if (slice < kSharingSlices && Below(6) != 0) request.context = who_[slice][at].tag.value_or(0);
    return request;
  }

  bool IsOfResident(const Request& request, uint64_t cycle, bool by_context) const {
    if (request.slice >= kSharingSlices) return false;
    const Who& who = who_[request.slice][cycle];
    return !who.vm.empty() && (!by_context || who.tag == request.context);
  }

  void Add(const std::string& event, uint64_t count, uint32_t slice, uint64_t cycle) {
    const Who& who = who_[slice][cycle];
    if (count == 0 || who.vm.empty()) return;
    const std::string own = who.vm == "vm0" ? absl::StrCat("vm0/slice", slice) : who.vm + "/";
    blocks_["vm0/"][event] += count;
    blocks_[own][event] += count;
    if (!who.context.empty()) blocks_[absl::StrCat(who.vm, "/", who.context)][event] += count;
  }

  // The event of a request of `values`, in the residencies of `cycle`.
  void AddRequest(const std::string& event, uint64_t count, const Request& values, uint64_t cycle, bool by_context) {
    if (count == 0) return;
    if (IsOfResident(values, cycle, by_context)) return Add(event, count, values.slice, cycle);
    blocks_["vm0/"]["unattributed_" + event] += count;
  }

  void CountCycle(uint64_t cycle) {
    const Request& request = requests_[cycle];
    const auto set_bits = static_cast<uint64_t>(__builtin_popcount(request.hits));
    const bool is_host = request.slice < kSharingSlices && who_[request.slice][cycle].is_host;
    const bool is_of_resident = IsOfResident(request, cycle, true);
    AddRequest("hits", request.hits, request, cycle, true);
    AddRequest("guest_hits", is_of_resident && is_host ? 0 : set_bits, request, cycle, true);
    AddRequest("host_hits", is_of_resident && !is_host ? 0 : set_bits, request, cycle, true);
    AddRequest("idle", request.hits == 0 ? 1 : 0, request, cycle, false);
    for (size_t edge = 0; edge < 3; ++edge) {
      if (!request.edges[edge]) continue;
      // An edge after the reference's belongs to its next cycle.
      AddRequest("bytes", request.hits, request, edge == 2 ? cycle + 1 : cycle, true);
      AddToDevice("all_bytes", request.hits);
    }
    AddToDevice("all_hits", request.hits);
    AddToDevice("all_idle", request.hits == 0 ? 1 : 0);
    for (uint32_t slice = 0; slice < kSharingSlices; ++slice) Add("own", request.hits == 0 ? 0 : 1, slice, cycle);
  }

  void AddToDevice(const std::string& event, uint64_t count) {
    if (count > 0) blocks_["vm0/"][event] += count;
  }

  std::string Trace() const {
    std::string text = kDeclarations;
    for (uint64_t cycle = 0; cycle < cycles_; ++cycle) {
      const Request& request = requests_[cycle];
      const uint64_t time = 10 * cycle;
      absl::StrAppendFormat(&text, "#%d\n0!\n0m\nb%d%d%d #\nb%d%d s\nb%d%d%d c\n", time, request.hits >> 2,
                            request.hits >> 1 & 1, request.hits & 1, request.slice >> 1, request.slice & 1,
                            request.context >> 2, request.context >> 1 & 1, request.context & 1);
      if (request.edges[0]) absl::StrAppendFormat(&text, "#%d\n1m\n#%d\n0m\n", time + 2, time + 3);
      // In either order: edges at one time have none.
      absl::StrAppendFormat(&text, "#%d\n", time + 5);
      if (request.edges[1] && cycle % 2 == 0) absl::StrAppend(&text, "1m\n");
      absl::StrAppend(&text, "1!\n");
      if (request.edges[1] && cycle % 2 == 1) absl::StrAppend(&text, "1m\n");
      absl::StrAppendFormat(&text, "#%d\n0m\n", time + 6);
      if (request.edges[2]) absl::StrAppendFormat(&text, "#%d\n1m\n", time + 8);
    }
    return text;
  }

  std::mt19937 random_;
  const uint64_t cycles_;
  std::vector<Request> requests_;
  std::array<std::vector<Who>, kSharingSlices> who_;
  std::string schedule_, exits_;
  Blocks blocks_;
};

TEST(RequestersTest, EveryRequestIsCountedForItsRequester) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const DrawnRequests drawn(seed, 2000);
    const auto result = Replay(drawn.Inputs(), {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(BlocksOf(*result), drawn.blocks()) << "seed " << seed;
  }
}

TEST(RequestersTest, ALongTraceIsCountedInPieces) {
  const DrawnRequests drawn(77, 70'000);
  const auto result = Replay(drawn.Inputs(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(BlocksOf(*result), drawn.blocks());
}

// From the blocks alone: no request is lost or counted twice.
TEST(RequestersTest, RequestsAddUp) {
  const auto result = Replay(DrawnRequests(99, 3000).Inputs(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  Blocks blocks = BlocksOf(*result);
  Counts& device = blocks["vm0/"];
  for (const std::string event : {"hits", "idle", "bytes"}) {
    EXPECT_EQ(device[event] + device["unattributed_" + event], device["all_" + event]) << event;
    uint64_t parts = 0;
    for (const std::string part : {"vm0/slice0", "vm0/slice1", "vm1/", "vm2/"}) parts += blocks[part][event];
    EXPECT_EQ(device[event], parts) << event;
    EXPECT_GE(blocks["vm1/"][event], blocks["vm1/a"][event] + blocks["vm1/b"][event]) << event;
    EXPECT_EQ(blocks["vm2/"][event], blocks["vm2/a"][event]) << event;
    EXPECT_GT(device["unattributed_" + event], 0u) << event;
  }
}

// Tags change nothing for events without a requester.
TEST(RequestersTest, OtherEventsAreAsWithoutRequesters) {
  ReplayInputs inputs = DrawnRequests(5, 2000).Inputs();
  const auto with = Replay(inputs, {});
  inputs.signals = WriteTestFile(R"({"clock": "TOP.clk", "events": [
{"name": "own", "signal": "TOP.hits", "op": "high"}]})",
                                 "S.json");
  const auto without = Replay(inputs, {});
  ASSERT_TRUE(without.ok()) << without.status();
  for (const auto& [name, counts] : BlocksOf(*without)) EXPECT_EQ(BlocksOf(*with)[name]["own"], counts.at("own"));
}

class SmallRequestersTest : public testing::Test {
 protected:
  // A hit in each of 8 cycles, of slice 0: five of context 1, then three of context 2.
  SmallRequestersTest() {
    std::string trace = kDeclarations;
    for (int cycle = 0; cycle < 8; ++cycle) {
      absl::StrAppend(&trace, "#", 10 * cycle, "\n0!\nb001 #\nb00 s\n", cycle < 5 ? "b001 c" : "b010 c", "\n#",
                      10 * cycle + 5, "\n1!\n");
    }
    inputs_ = {.signals = "", .trace = WriteTestFile(trace, "T.vcd"), .schedule = "", .peeks = "", .exits = ""};
    Schedule("0,3,vm1,a,1\n3,6,vm2,b,2\n");
    Event(R"("op": "high", "requester": {"slice": "TOP.slice", "context": "TOP.context"})");
  }
  void Schedule(const std::string& rows) {
    inputs_.schedule = WriteTestFile("start_cycle,end_cycle,vm,context,tag\n" + rows, "C.csv");
  }
  void Event(const std::string& keys) { Events(R"({"name": "hits", "signal": "TOP.hits", )" + keys + "}"); }
  void Events(const std::string& events) {
    inputs_.signals = WriteTestFile("{\"clock\": \"TOP.clk\", \"events\": [\n" + events + "]}", "S.json");
  }
  std::string Error() const {
    const std::string message(Replay(inputs_, {}).status().message());
    return message.substr(message.find('_', message.rfind('/')) + 1);
  }

  ReplayInputs inputs_;
};

// Requests of vm1/a are still under way when vm2/b is resident.
TEST_F(SmallRequestersTest, ALateRequestIsUnattributedAndReported) {
  const auto result = Replay(inputs_, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(BlocksOf(*result), (Blocks{{"vm0/", {{"hits", 4}, {"unattributed_hits", 4}}},
                                       {"vm1/", {{"hits", 3}}},
                                       {"vm1/a", {{"hits", 3}}},
                                       {"vm2/", {{"hits", 1}}},
                                       {"vm2/b", {{"hits", 1}}}}));
  const std::string expected = inputs_.trace +
                               ": event 'hits': 4 unattributed counts, which are 'unattributed_hits' of vm0: tags name "
                               "no slice, or no resident of it";
  EXPECT_EQ(result->warnings, std::vector<std::string>{expected});
}

TEST_F(SmallRequestersTest, WithTheSliceAloneTheResidentIsTheRequester) {
  Event(R"("op": "high", "requester": {"slice": "TOP.slice"})");
  Schedule("0,3,vm1,a,\n3,6,vm2,b,\n");
  const auto result = Replay(inputs_, {});
  ASSERT_TRUE(result.ok()) << result.status();
  Blocks blocks = BlocksOf(*result);
  EXPECT_EQ(blocks["vm2/b"], (Counts{{"hits", 3}}));
  EXPECT_EQ(blocks["vm0/"], (Counts{{"hits", 6}, {"unattributed_hits", 2}})) << "nobody is resident in the last cycles";
}

// The counters of the shared unit are flushed with the slice's own: each of its two collection units acknowledges.
TEST_F(SmallRequestersTest, ASwitchWaitsForTheAcknowledgementsOfTheSlicesCounters) {
  Events(R"({"name": "own", "signal": "TOP.hits", "op": "high"},
{"name": "hits", "signal": "TOP.hits", "op": "high", "ulc": "l2",
 "requester": {"slice": "TOP.slice", "context": "TOP.context"}})");
  std::vector<std::string> polls;
  const auto result =
      Replay(inputs_, {.progress = nullptr, .switches = [&](const ReplaySwitch& event) {
                         if (event.step.step != SwitchStep::kPoll) return;
                         polls.push_back(absl::StrCat(event.from, ">", event.to, " ", event.step.records, " ",
                                                      event.step.acknowledgements));
                       }});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(polls, (std::vector<std::string>{">vm1/a 0 0", "vm1/a>vm2/b 2 2", "vm2/b> 2 2", "> 0 0"}));
}

TEST_F(SmallRequestersTest, WhatIsWrongIsNamed) {
  Schedule("0,3,vm1,a,1\n3,6,vm2,b,\n");
  EXPECT_EQ(Error(), "C.csv:3: the residency has no tag, with which event 'hits' compares the context of a request");
  Schedule("0,3,vm1,a,-1\n");
  EXPECT_EQ(Error(), "C.csv:2: tag: expected a whole number up to 18446744073709551615, not '-1'");
  Schedule("0,3,vm1,a,1\n");
  const std::string requester = R"("requester": {"slice": "TOP.slice"})";
  Event(R"("op": "high", "slice": 0, )" + requester);
  EXPECT_EQ(Error(), "S.json:2: an event with a requester has no slice: each request names its own");
  Event(R"("op": "high", "scope": "device", )" + requester);
  EXPECT_EQ(Error(), "S.json:2: an event of the whole device has no requester");
  Event(R"("op": "rise", )" + requester);
  EXPECT_EQ(Error(), "S.json:2: op rise takes no requester: a request is counted in each of its cycles");
  Event(R"("op": "high", "requester": {"context": "TOP.context"})");
  EXPECT_EQ(Error(), "S.json:2: key 'slice' is missing");
  Event(R"("op": "high", "requester": {"slice": "TOP.slcie"})");
  EXPECT_EQ(Error(), "S.json:2: the trace has no signal 'TOP.slcie' (did you mean 'TOP.slice'?)");
  const std::string hits = R"({"name": "hits", "signal": "TOP.hits", "op": "high", )" + requester + "},\n";
  Events(hits + R"({"name": "hits", "signal": "TOP.hits", "op": "high"})");
  EXPECT_EQ(Error(), "S.json:3: event 'hits' is counted both with and without a requester");
  Events(hits + R"({"name": "unattributed_hits", "signal": "TOP.hits", "op": "high"})");
  EXPECT_EQ(Error(), "S.json:3: event 'unattributed_hits' is also that of unattributed requests");
  Events(R"({"name": "unattributed_hits", "signal": "TOP.hits", "op": "high", "scope": "device"},
)" + hits +
         R"({"name": "own", "signal": "TOP.hits", "op": "high"})");
  EXPECT_EQ(Error(), "S.json:3: event 'unattributed_hits' is also that of unattributed requests");
  const std::string name(243, 'n');
  Events("{\"name\": \"" + name + R"(", "signal": "TOP.hits", "op": "high", )" + requester + "}");
  EXPECT_EQ(Error(), "S.json:2: event 'unattributed_" + name + "' has more than 255 characters");
}

}  // namespace
}  // namespace sideband::mcu
