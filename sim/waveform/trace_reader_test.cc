// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/test_files.h"

namespace sideband::sim {
namespace {

// A clock !, a bit a, an 8-bit vector v with code #, a 40-bit vector with code w, and a real r.
constexpr char kDeclarations[] =
    "$timescale 1ns $end\n"
    "$scope module t $end\n"
    "$var wire 1 ! clk $end\n"
    "$var wire 1 a a $end\n"
    "$var wire 8 # v [7:0] $end\n"
    "$var wire 40 w wide [0:39] $end $var real 64 r r $end $var wire 2000 W wider $end $var wire 1 u unused $end\n"
    "$upscope $end\n"
    "$enddefinitions $end\n";

std::string MapText(const std::string& events) {
  return absl::StrCat("{\"clock\": \"t.clk\",\n\"events\": [\n", events, "]}");
}

// An event of this signal; `rest` are its other keys.
std::string EventText(const std::string& signal, const std::string& rest) {
  return absl::StrCat("{\"name\": \"e\", \"signal\": \"", signal, "\", ", rest, "}");
}

absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::string& trace, const std::string& map_text) {
  const auto map = SignalMap::Parse(map_text, "S.json");
  if (!map.ok()) return map.status();
  return TraceReader::Open(WriteTestFile(trace), *map);
}

// The addend of the first event in each cycle.
absl::StatusOr<std::vector<uint64_t>> Contributions(const std::string& trace, const std::string& event) {
  auto reader = Open(trace, MapText(event));
  if (!reader.ok()) return reader.status();
  std::vector<uint64_t> result;
  for (;;) {
    const auto chunk = (*reader)->Next();
    if (!chunk.ok()) return chunk.status();
    if (*chunk == nullptr) return result;
    for (uint64_t cycle = (*chunk)->range().begin; cycle < (*chunk)->range().end; ++cycle) {
      uint64_t sum = 0;
      for (const EventWire& wire : (*reader)->wires(0))
        sum += uint64_t{(*chunk)->domain(0).Bit(wire.wire, cycle)} << wire.shift;
      result.push_back(sum);
    }
  }
}

std::vector<uint64_t> Body(const std::string& body, const std::string& event) {
  const auto result = Contributions(kDeclarations + body, event);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.value_or(std::vector<uint64_t>());
}

using Sums = std::vector<uint64_t>;
const char kHigh[] = R"("op": "high")";

TEST(TraceReaderTest, NamesMayHaveTheirRange) {
  const std::string body = "#0 0! b11 # #5 1!";
  EXPECT_EQ(Body(body, EventText("t.v[7:0]", R"("op": "value")")), (Sums{3}));
  EXPECT_EQ(Body(body, EventText("t.wide[0:39]", R"("op": "low")")), (Sums{1}));
  const auto part = Contributions(kDeclarations + body, EventText("t.v[3:0]", kHigh));
  EXPECT_EQ(part.status().message(),
            "S.json:3: signal 't.v' is [7:0], not [3:0]: to use a part, name single bits with `bit`");
  EXPECT_EQ(Contributions(kDeclarations + body, EventText("t.none[3:0]", kHigh)).status().message(),
            "S.json:3: the trace has no signal 't.none[3:0]'");
}

TEST(TraceReaderTest, AnEventThatIsAlways0IsWarnedOf) {
  const auto warnings = [](const std::string& rest, const std::string& signal = "t.v") {
    const auto reader = Open(kDeclarations, MapText(EventText(signal, rest)));
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? (*reader)->warnings() : std::vector<std::string>();
  };
  EXPECT_EQ(warnings(R"("op": "equals", "value": 255)"), (std::vector<std::string>{}));
  EXPECT_EQ(warnings(R"("op": "equals", "value": 256)"),
            (std::vector<std::string>{"S.json:3: event 'e' counts 0: value 256 does not fit into 8 bits of 't.v'"}));
  EXPECT_EQ(warnings(R"("op": "equals", "value": 1, "bit": 3)"), (std::vector<std::string>{}));
  EXPECT_EQ(warnings(R"("op": "equals", "value": 2, "bit": 3)").size(), 1u);
  EXPECT_EQ(warnings(R"("op": "equals", "value": 18446744073709551615)", "t.wider"), (std::vector<std::string>{}));
  for (const char* op : {"high", "rise", "popcount", "value"}) {
    EXPECT_EQ(warnings(absl::StrCat(R"("op": ")", op, "\""), "t.clk"),
              (std::vector<std::string>{"S.json:3: event 'e' counts 0: the clock 't.clk' is low before each of its "
                                        "edges; to count its cycles, use op low"}))
        << op;
  }
  EXPECT_EQ(warnings(R"("op": "low")", "t.clk"), std::vector<std::string>{});
  EXPECT_EQ(warnings(R"("op": "equals", "value": 0)", "t.clk"), std::vector<std::string>{});
  EXPECT_EQ(warnings(R"("op": "equals", "value": 1)", "t.clk").size(), 1u);
  EXPECT_EQ(warnings(R"("op": "high", "clock": "t.a")", "t.clk"), std::vector<std::string>{}) << "of another clock";
}

TEST(TraceReaderTest, ATraceThatEndsWithinALineIsWarnedOf) {
  const auto warnings = [](const std::string& body) {
    const auto reader = Open(kDeclarations + body, MapText(EventText("t.a", kHigh)));
    EXPECT_TRUE(reader.ok()) << reader.status();
    for (int calls = 0; calls < 5; ++calls) EXPECT_TRUE((*reader)->Next().ok());
    std::vector<std::string> warnings = (*reader)->warnings();
    for (std::string& warning : warnings) warning = warning.substr(warning.find(".vcd:"));
    return warnings;
  };
  EXPECT_EQ(warnings("#0 0!\n#1 1!\n"), std::vector<std::string>{});
  EXPECT_EQ(warnings("#0 0!\n#1 1!\r\n"), std::vector<std::string>{});
  const std::vector<std::string> cut = {".vcd:10: the last line has no line end: the trace may be cut off"};
  EXPECT_EQ(warnings("#0 0!\n#1 1!"), cut);
  EXPECT_EQ(warnings("#0 0!\n#1 1!" + std::string(100, '\0')), cut);
  EXPECT_EQ(warnings("#0 0!\n#1 1! b01"), cut);
}

TEST(TraceReaderTest, TheRestOfALineThatIsCutOffIsNotRead) {
  const std::string body = "#0 0! 1a\n#105 1!\n";
  for (const char* rest : {"#", "#1", "#10", "b", "b0", "b01", "b01 ", "1", "2!", "r1.5", "r1.5 ", "s", "p", "pD 6",
                           "$d", "$comm", "0?", "bxy a"}) {
    const auto cut = Contributions(kDeclarations + body + rest, EventText("t.a", kHigh));
    ASSERT_TRUE(cut.ok()) << cut.status() << rest;
    EXPECT_EQ(*cut, Sums{1}) << rest;
    const std::string packed = Gzipped(kDeclarations + body + rest);
    EXPECT_EQ(Contributions(packed, EventText("t.a", kHigh)).value_or(Sums{}), Sums{1}) << rest;
  }
  for (const char* rest : {"$comment #110 0!", "$foo 0! 1!", "2! 0!"}) {
    EXPECT_FALSE(Contributions(kDeclarations + body + rest, EventText("t.a", kHigh)).ok()) << rest;
  }
}

TEST(TraceReaderTest, DumpsThatAreOffAreGaps) {
  const auto reader =
      Open(std::string(kDeclarations) +
               "#0 0! #5 1! #10 0!\n$dumpoff x! xa $end\n#15 $dumpon 0! $end #20 1! $dumpoff $end #25 0! #30 1!",
           MapText(EventText("t.a", kHigh)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  while (*(*reader)->Next() != nullptr) {
  }
  const auto& gaps = (*reader)->gaps();
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].line, 10u);
  EXPECT_EQ(gaps[0].cycles, (CycleRange{1, 1}));
  EXPECT_EQ(gaps[1].cycles, (CycleRange{2, UINT64_MAX}));
  EXPECT_EQ((*reader)->cycles(0), 3u);
}

TEST(TraceReaderTest, ChangesAtTheEdgeAreSeenByTheNextCycle) {
  const std::string event = EventText("t.a", kHigh);
  // The order of a change and an edge with the same time stamp is irrelevant.
  EXPECT_EQ(Body("#0 0! 0a #5 1! 1a #10 0! #15 1! #20 0! 0a #25 1!", event), (Sums{0, 1, 0}));
  EXPECT_EQ(Body("#0 0! 0a #5 1a 1! #10 0! #15 1! #20 0a 0! #25 1!", event), (Sums{0, 1, 0}));
  // A change between edges, and a change that is undone before the edge.
  EXPECT_EQ(Body("#0 0! 0a #4 1a #5 1! #6 0a #7 1a #8 0a #10 0! #15 1!", event), (Sums{1, 0}));
  // Two values with the same time stamp: the last applies.
  EXPECT_EQ(Body("#0 0! #4 1a 0a #5 1! #6 0! #7 0a 1a #8 1!", event), (Sums{0, 1}));
  // A repeated time stamp is the same time.
  EXPECT_EQ(Body("#0 0! #5 1a #5 1! #6 0! #8 1!", event), (Sums{0, 1}));
}

TEST(TraceReaderTest, EdgesOfTheClock) {
  const struct {
    std::string body;
    size_t cycles;
  } kRows[] = {
      {"", 0},                                      // nothing at all
      {"#0 0! #5 1!", 1},                           // from 0
      {"#0 x! #5 1!", 1},                           // from x
      {"#0 z! #5 1!", 1},                           // from z
      {"#0 1! #5 0! #10 1!", 1},                    // a clock that starts at 1 has no edge there
      {"#5 1!", 0},                                 // nor later, if it has had no value before
      {"#0 0! #5 1! #6 1! #7 1!", 1},               // repeated values
      {"#0 0! #5 1! #6 x! #7 1!", 2},               // through x
      {"#0 $dumpvars x! $end 1! #5 0! #10 1!", 2},  // within the first time stamp
      {"$dumpvars 0! $end #0 1!", 1},               // from a value before the first time stamp
      {"#0 b0 ! #5 b1 ! #6 0! #7 b1 !", 2},         // written as a vector
      {"#0 0! #5 1! $dumpoff x! $end #9 $dumpon 1! $end", 2},
  };
  for (const auto& row : kRows) EXPECT_EQ(Body(row.body, EventText("t.a", kHigh)).size(), row.cycles) << row.body;
}

TEST(TraceReaderTest, InitialValuesAreSeenByTheFirstCycle) {
  EXPECT_EQ(Body("$dumpvars 0! 1a $end #0 1! #1 0! #2 1!", EventText("t.a", kHigh)), (Sums{1, 1}));
  EXPECT_EQ(Body("#0 $dumpvars 0! 1a $end #1 1!", EventText("t.a", kHigh)), (Sums{1}));
  EXPECT_EQ(Body("#0 0! #1 1!", EventText("t.a", R"("op": "low")")), (Sums{1})) << "never given a value";
}

TEST(TraceReaderTest, UnknownValuesAreZero) {
  EXPECT_EQ(Body("#0 0! xa #1 1! #2 0! za #3 1! 1a #4 0! #5 1!", EventText("t.a", kHigh)), (Sums{0, 0, 1}));
  EXPECT_EQ(Body("#0 0! 1a #1 1! $dumpoff x! xa $end #3 1! #4 0! #5 1!", EventText("t.a", kHigh)), (Sums{1, 0, 0}));
}

TEST(TraceReaderTest, OpsOfAVector) {
  // Values before the edges: 0, 5, x1 extended to 8 bits, 10000001 (a scalar change sets it to 1 at last).
  const std::string body =
      "#0 0! b0 # #1 1! b101 # #2 0! #3 1! bx1 # #4 0! #5 1! b10000001 # #6 0! #7 1! 1# #8 0! #9 1!";
  const struct {
    std::string event;
    Sums sums;
  } kRows[] = {
      {R"("op": "high")", {0, 1, 1, 1, 1}},
      {R"("op": "high", "bit": 7)", {0, 0, 0, 1, 0}},
      {R"("op": "low")", {1, 0, 0, 0, 0}},
      {R"("op": "low", "bit": 2)", {1, 0, 1, 1, 1}},
      {R"("op": "rise")", {0, 1, 0, 0, 0}},
      {R"("op": "rise", "bit": 7)", {0, 0, 0, 1, 0}},
      {R"("op": "equals", "value": 5)", {0, 1, 0, 0, 0}},
      {R"("op": "equals", "value": 1)", {0, 0, 1, 0, 1}},
      {R"("op": "equals", "value": 0)", {1, 0, 0, 0, 0}},
      {R"("op": "popcount")", {0, 2, 1, 2, 1}},
      {R"("op": "popcount", "bit": 2)", {0, 1, 0, 0, 0}},
      {R"("op": "value")", {0, 5, 1, 129, 1}},
  };
  for (const auto& row : kRows) EXPECT_EQ(Body(body, EventText("t.v", row.event)), row.sums) << row.event;
}

TEST(TraceReaderTest, BitsOfAnAscendingRangeAreIndexedFromTheLeft) {
  const std::string body = "#0 0! b1 w #1 1!";
  EXPECT_EQ(Body(body, EventText("t.wide", R"("op": "high", "bit": 39)")), (Sums{1}));
  EXPECT_EQ(Body(body, EventText("t.wide", R"("op": "high", "bit": 0)")), (Sums{0}));
}

TEST(TraceReaderTest, ClockMayBeCountedItself) {
  EXPECT_EQ(Body("#0 0! #1 1! #2 0! #3 1!", EventText("t.clk", R"("op": "low")")), (Sums{1, 1}));
}

TEST(TraceReaderTest, CommentsRealsAndUnusedSignalsAreSkipped) {
  EXPECT_EQ(Body("$comment 1! #7 $end #0 0! r1.5e3 r R-2 r 0u #1 1a $comment $end #2 1!", EventText("t.a", kHigh)),
            (Sums{1}));
  EXPECT_EQ(Body("#0 0! s r shello r #2 1!", EventText("t.a", kHigh)), (Sums{0})) << "an empty string";
}

TEST(TraceReaderTest, WiresFollowTheOrderOfEvents) {
  const auto reader =
      Open(kDeclarations,
           MapText(absl::StrCat(EventText("t.a", kHigh), ",", EventText("t.v", R"("op": "popcount")"), ",",
                                EventText("t.v", R"("op": "value")"), ",", EventText("t.a", R"("op": "rise")"))));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->event_wires().total_wire_count(), 18u);
  ASSERT_EQ((*reader)->wires(0).size(), 1u);
  ASSERT_EQ((*reader)->wires(1).size(), 8u);
  ASSERT_EQ((*reader)->wires(2).size(), 8u);
  EXPECT_EQ((*reader)->wires(1)[7], (EventWire{8, 0}));
  EXPECT_EQ((*reader)->wires(2)[7], (EventWire{16, 7}));
  EXPECT_EQ((*reader)->wires(3)[0], (EventWire{17, 0}));
}

TEST(TraceReaderTest, ChunksAreFullButTheLast) {
  for (const uint64_t cycles : {0, 1, 65535, 65536, 65537, 131072}) {
    std::string body = "#0 0! 1a";
    for (uint64_t i = 0; i < cycles; ++i) absl::StrAppend(&body, "\n#", 2 * i + 1, " 1!\n#", 2 * i + 2, " 0!");
    auto reader = Open(kDeclarations + body, MapText(EventText("t.a", kHigh)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    uint64_t end = 0;
    for (;;) {
      const auto chunk = (*reader)->Next();
      ASSERT_TRUE(chunk.ok()) << chunk.status();
      if (*chunk == nullptr) break;
      EXPECT_EQ((*chunk)->range(), (CycleRange{end, std::min(end + TraceReader::ChunkCycles(1), cycles)}));
      EXPECT_EQ((*chunk)->domain_count(), 1u);
      EXPECT_EQ((*chunk)->CyclesBefore(0, end), end);
      end = (*chunk)->range().end;
      EXPECT_EQ((*chunk)->CyclesHeld(0, end), end);
      EXPECT_EQ((*reader)->cycles(), end);
    }
    EXPECT_EQ(end, cycles);
    EXPECT_EQ(*(*reader)->Next(), nullptr) << "and null for good";
  }
}

// Clocks ! and k, and a bit a.
constexpr char kTwoClocks[] =
    "$scope module t $end $var wire 1 ! clk $end $var wire 1 k k $end $var wire 1 k alias $end $var wire 1 a a $end\n"
    "$upscope $end $enddefinitions $end\n";

std::string OnClock(const std::string& clock) {
  return EventText("t.a", absl::StrCat(R"("op": "high", "clock": ")", clock, "\""));
}

TEST(TraceReaderTest, EventsAreSampledByTheirOwnClock) {
  const std::string body = "#0 0! 0k 0a #5 1k #6 0k 1a #10 1! #12 1k 0a #13 0k #15 0! #20 1k 1! #21 0k 1a #25 1k";
  const auto reader = Open(kTwoClocks + body, MapText(absl::StrCat(OnClock("t.k"), ",", EventText("t.a", kHigh))));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto next = (*reader)->Next();
  ASSERT_TRUE(next.ok()) << next.status();
  const TraceChunk& chunk = **next;
  EXPECT_EQ(chunk.range(), (CycleRange{0, 2}));
  EXPECT_EQ((*reader)->cycles(), 2u);
  EXPECT_EQ(chunk.domain(1).range(), (CycleRange{0, 4}));
  const std::vector<bool> on_k = {false, true, false, true};
  for (uint64_t cycle = 0; cycle < 4; ++cycle) EXPECT_EQ(chunk.domain(1).Bit(0, cycle), on_k[cycle]) << cycle;
  EXPECT_TRUE(chunk.domain(0).Bit(0, 0));
  EXPECT_FALSE(chunk.domain(0).Bit(0, 1));
  EXPECT_EQ(chunk.CyclesBefore(1, 0), 0u);
  EXPECT_EQ(chunk.CyclesBefore(1, 1), 1u);
  EXPECT_EQ(chunk.CyclesBefore(1, 2), 3u) << "the edge at the same time, written first";
  EXPECT_EQ(chunk.CyclesHeld(1, 2), 4u);
  EXPECT_EQ(*(*reader)->Next(), nullptr);
}

TEST(TraceReaderTest, AStoppedReferenceDoesNotKeepTheRestInMemory) {
  std::string body = "#0 0! 0k";
  for (int i = 1; i <= 200000; ++i) absl::StrAppend(&body, "\n#", 2 * i, " 1k\n#", 2 * i + 1, " 0k");
  const auto reader = Open(kTwoClocks + body + "\n#500000 1!", MapText(OnClock("t.k")));
  ASSERT_TRUE(reader.ok()) << reader.status();
  uint64_t end = 0;
  for (;;) {
    const auto chunk = (*reader)->Next();
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    if (*chunk == nullptr) break;
    EXPECT_EQ((*chunk)->domain(1).range().begin, end);
    end = (*chunk)->domain(1).range().end;
    EXPECT_LE((*chunk)->domain(1).range().size(), 65536u);
    EXPECT_EQ((*chunk)->CyclesBefore(1, 0), 0u);
    if ((*chunk)->range().end == 1) {
      EXPECT_EQ((*chunk)->CyclesBefore(1, 1), 200000u);
    }
  }
  EXPECT_EQ(end, 200000u);
  EXPECT_EQ((*reader)->cycles(), 1u);
}

TEST(TraceReaderTest, ClocksOfOneCodeAreOneDomain) {
  const auto reader =
      Open(kTwoClocks,
           MapText(absl::StrCat(OnClock("t.alias"), ",", OnClock("t.clk"), ",", OnClock("t.k"), ",", OnClock("t.a"))));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const EventWires& wires = (*reader)->event_wires();
  ASSERT_EQ(wires.domain_count(), 3u);
  const std::vector<size_t> domains = {1, 0, 1, 2};
  for (size_t event = 0; event < domains.size(); ++event) EXPECT_EQ(wires.domain(event), domains[event]) << event;
  EXPECT_EQ(wires.wire_count(1), 2u);
  EXPECT_EQ(wires.wires(2)[0].wire, 1u) << "numbered within the domain";
  EXPECT_EQ(wires.wires(3)[0].wire, 0u);
}

TEST(TraceReaderTest, ClocksAreBounded) {
  std::string header = "$var wire 1 ! clk $end $var wire 1 a a $end\n";
  std::string events = EventText("a", kHigh);
  for (size_t i = 1; i <= kClockDomainsMax; ++i) {
    absl::StrAppend(&header, "$var wire 1 c", i, " c", i, " $end\n");
    if (i == kClockDomainsMax) {
      const auto map = absl::StrCat("{\"clock\": \"clk\",\n\"events\": [\n", events, "]}");
      EXPECT_TRUE(Open(header + "$enddefinitions $end", map).ok());
    }
    absl::StrAppend(&events, ",\n", EventText("a", absl::StrCat(R"("op": "high", "clock": "c)", i, "\"")));
  }
  const auto map = absl::StrCat("{\"clock\": \"clk\",\n\"events\": [\n", events, "]}");
  EXPECT_EQ(Open(header + "$enddefinitions $end", map).status().message(), "S.json:19: more than 16 clocks");
}

TEST(TraceReaderTest, ManyEdgesAtOneTimeAreRefusedWithSeveralClocks) {
  const auto result = [](int edges) {
    std::string body = "\n#1";
    for (int i = 0; i < edges; ++i) body += " 0k 1k";
    const auto reader = Open(kTwoClocks + body + "\n", MapText(OnClock("t.k")));
    EXPECT_TRUE(reader.ok()) << reader.status();
    return (*reader)->Next().status();
  };
  EXPECT_TRUE(result(64).ok());
  const std::string message(result(65).message());
  EXPECT_NE(message.find(".vcd:4: more than 64 rising edges of 'k' at one time"), std::string::npos) << message;
}

TEST(TraceReaderTest, ChunksOfManyWiresAreShort) {
  EXPECT_EQ(TraceReader::ChunkCycles(0), 65536u);
  EXPECT_EQ(TraceReader::ChunkCycles(64), 65536u);
  EXPECT_EQ(TraceReader::ChunkCycles(65), 61440u);
  EXPECT_EQ(TraceReader::ChunkCycles(512), 8192u);
  EXPECT_EQ(TraceReader::ChunkCycles(513), 4096u);
  EXPECT_EQ(TraceReader::ChunkCycles(kWaveformWiresMax), 4096u);
}

TEST(TraceReaderTest, EdgesWithoutTimeBetweenThemFillChunks) {
  std::string body = "#0 0! #1 1a #2";
  for (int i = 0; i < 70000; ++i) body += " 1! 0!";
  EXPECT_EQ(Body(body, EventText("t.a", kHigh)), Sums(70000, 1));
}

TEST(TraceReaderTest, GzipReadsAsThePlainFile) {
  const std::string trace = absl::StrCat(kDeclarations, "#0 0! #1 1a #2 1!");
  EXPECT_EQ(*Contributions(Gzipped(trace), EventText("t.a", kHigh)), (Sums{1}));
  const std::string packed = Gzipped(trace);
  EXPECT_EQ(Contributions(packed.substr(0, packed.size() - 9), EventText("t.a", kHigh)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TraceReaderTest, MalformedBodiesAreRefusedWithTheirLine) {
  const struct {
    std::string body;  // starts at line 9
    std::string error;
  } kRows[] = {
      // Times.
      {"#", ":9: expected a time after '#', not ''"},
      {"#x", ":9: expected a time after '#', not 'x'"},
      {"#-1", ":9: expected a time after '#', not '-1'"},
      {"#18446744073709551616", ":9: expected a time after '#', not '18446744073709551616'"},
      {"#5\n#4", ":10: time goes backwards, from 5 to 4"},
      {"#5.25\n#5.05", ":10: time goes backwards, from 5.25 to 5.05"},
      {"#.5", ":9: expected a time after '#', not '.5'"},
      {"#5.x", ":9: expected a time after '#', not '5.x'"},
      {"#5.-1", ":9: expected a time after '#', not '5.-1'"},
      {"#5.0000000000000000000", ":9: expected a time after '#', not '5.0000000000000000000'"},
      // Scalars.
      {"#0\n1", ":10: malformed change '1'"},
      {"#0\n2!", ":10: malformed change '2!'"},
      {"#0\ngarbage", ":10: malformed change 'garbage'"},
      {"#0\n1?", ":10: unknown identifier code '?'"},
      {std::string("#0\n1\xff", 5), ":10: unknown identifier code '\\xff'"},
      // Vectors.
      {"#0\nb a", ":10: malformed vector 'b'"},
      {"#0\nb012 a", ":10: malformed vector 'b012'"},
      {"#0\nb012 ?", ":10: malformed vector 'b012'"},
      // Ports.
      {"#0\npD 6 0 ?", ":10: unknown identifier code '?'"},
      {"#0\npS 6 0 a", ":10: malformed vector 'pS'"},
      {"#0\npDU 66 00 a", ":10: a value of 2 digits for 'a', which has 1 bits"},
      {"#0\npD 6", ":11: the file ends in the middle of a change"},
      {"#0 b1 ?", ":9: unknown identifier code '?'"},
      {"#0\nb1\n", ":11: the file ends in the middle of a change"},
      {"#0\nb01 a", ":10: a value of 2 digits for 'a', which has 1 bits"},
      {"#0\nb11 !", ":10: a value of 2 digits for '!', which has 1 bits"},
      // Reals and strings.
      {"#0 r1.0", ":10: the file ends in the middle of a change"},
      {"#0 r1.0 ?", ":9: unknown identifier code '?'"},
      {"#0 r1.0 a", ":9: a real or string value for 'a'"},
      // Keywords.
      {"#0\n$var", ":11: the file ends within a '$var'"},
      {"#0\n$foo 1!\n#5", ":11: '$foo' has no $end before '#5'"},
      {"#0\n$foo 1!\n$dumpoff $end", ":11: '$foo' has no $end before '$dumpoff'"},
      {"#0\n$comment 1!", ":11: the file ends within a $comment"},
      // A token that is too long.
      {"#0\n" + std::string((1 << 20) + 1, '1'), ":10: a word of more than 1048576 bytes; is this a VCD file?"},
  };
  for (const auto& row : kRows) {
    const std::string line_end = row.body.back() == '\n' ? "" : "\n";
    const absl::Status status = Contributions(kDeclarations + row.body + line_end, EventText("t.a", kHigh)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.body.substr(0, 40);
    const std::string message(status.message());
    EXPECT_EQ(message.substr(std::min(message.size(), message.find(".vcd:") + 4)), row.error);
  }
  EXPECT_TRUE(Contributions(absl::StrCat(kDeclarations, "#18446744073709551615 b1 a"), EventText("t.a", kHigh)).ok())
      << "the other side of each bound";
}

TEST(TraceReaderTest, AnErrorStays) {
  auto reader = Open(absl::StrCat(kDeclarations, "#0 0! #1 1! #2 what #3 0! #4 1!"), MapText(EventText("t.a", kHigh)));
  ASSERT_TRUE(reader.ok());
  const absl::Status first = (*reader)->Next().status();
  EXPECT_FALSE(first.ok());
  EXPECT_EQ((*reader)->Next().status(), first);
}

TEST(TraceReaderTest, EveryPrefixOfATraceIsReadOrRefused) {
  const std::string trace =
      absl::StrCat(kDeclarations, "#0 $dumpvars 0! 1a b101 # $end\n#5 1!\n#10 0! r1.5 r\n#15 1!\n");
  for (size_t size = 0; size < trace.size(); ++size) {
    const auto result = Contributions(trace.substr(0, size), EventText("t.a", kHigh));
    const bool is_in_body = size + 1 >= sizeof(kDeclarations) - 1;  // the last line end is not needed
    EXPECT_EQ(result.ok(), is_in_body) << size << result.status();
    EXPECT_TRUE(result.ok() || absl::IsInvalidArgument(result.status())) << result.status();
  }
}

TEST(TraceReaderTest, EventsThatTheTraceCannotFeedAreRefusedAtTheirLine) {
  const std::string high = EventText("t.a", kHigh);
  const struct {
    std::string map;
    std::string error;
  } kRows[] = {
      // Unknown signals, with the nearest.
      {MapText(EventText("t.vv", kHigh)), "S.json:3: the trace has no signal 't.vv' (did you mean 't.v'?)"},
      {MapText(EventText("wide", kHigh)), "S.json:3: the trace has no signal 'wide' (did you mean 't.wide'?)"},
      {MapText(high + ",\n" + EventText("nowhere.near.it", kHigh)),
       "S.json:4: the trace has no signal 'nowhere.near.it'"},
      {"{\"clock\": \"t.clkk\", \"events\": [" + high + "]}",
       "S.json:1: the trace has no signal 't.clkk' (did you mean 't.clk'?)"},
      {MapText(EventText("t.a", R"("op": "high", "clock": "t.clkk")")),
       "S.json:3: the trace has no signal 't.clkk' (did you mean 't.clk'?)"},
      {MapText(EventText("t.a", R"("op": "high", "clock": "t.v")")), "S.json:3: clock 't.v' has 8 bits, not one"},
      // A clock of many bits, a signal of none.
      {"{\"clock\": \"t.v\", \"events\": [" + high + "]}", "S.json:1: clock 't.v' has 8 bits, not one"},
      {MapText(EventText("t.r", kHigh)), "S.json:3: signal 't.r' is a real, which has no bits"},
      {MapText(EventText("t.v[2]", kHigh)),
       "S.json:3: the trace has no signal 't.v[2]': a bit of 't.v' is selected by \"bit\": 2"},
      {MapText(EventText("t.v[-4]", kHigh)),
       "S.json:3: the trace has no signal 't.v[-4]': a bit of 't.v' is selected by \"bit\": -4"},
      {MapText(EventText("t.vv[2]", kHigh)), "S.json:3: the trace has no signal 't.vv[2]'"},
      {MapText(EventText("t.v[]", kHigh)), "S.json:3: the trace has no signal 't.v[]' (did you mean 't.v'?)"},
      // Bits and widths, both sides.
      {MapText(EventText("t.v", R"("op": "high", "bit": 7)")), ""},
      {MapText(EventText("t.v", R"("op": "high", "bit": 8)")), "S.json:3: signal 't.v' has no bit 8: it is [7:0]"},
      {MapText(EventText("t.v", R"("op": "high", "bit": -1)")), "S.json:3: signal 't.v' has no bit -1: it is [7:0]"},
      {MapText(EventText("t.a", R"("op": "high", "bit": 1)")), "S.json:3: signal 't.a' has no bit 1: it is [0:0]"},
      {MapText(EventText("t.v", R"("op": "value")")), ""},
      {MapText(EventText("t.wide", R"("op": "value")")),
       "S.json:3: op value takes signals of up to 32 bits, 't.wide' has 40"},
      {MapText(EventText("t.wide", R"("op": "popcount")")), ""},
      {MapText(EventText("t.wider", R"("op": "popcount")")),
       "S.json:3: op popcount takes signals of up to 1024 bits, 't.wider' has 2000"},
      {MapText(EventText("t.wider", R"("op": "popcount", "bit": 1999)")), ""},
      {MapText(EventText("t.wider", R"("op": "equals", "value": 1)")), ""},
  };
  for (const auto& row : kRows) EXPECT_EQ(Open(kDeclarations, row.map).status().message(), row.error) << row.map;
}

TEST(TraceReaderTest, WiresAreBounded) {
  const std::string popcount = EventText("t.w", R"("op": "popcount")");
  std::string events = popcount;
  for (int i = 1; i < 64; ++i) events += ",\n" + popcount;
  const std::string header =
      "$scope module t $end $var wire 1 ! clk $end $var wire 1024 w w $end $upscope $end $enddefinitions $end\n";
  EXPECT_TRUE(Open(header, MapText(events)).ok());
  EXPECT_EQ(Open(header, MapText(events + ",\n" + EventText("t.clk", kHigh))).status().message(),
            "S.json:67: with this event there are more than 65536 bits to count in all");
}

TEST(TraceReaderTest, MissingFileIsNamed) {
  const auto map = SignalMap::Parse(MapText(EventText("t.a", kHigh)), "S.json");
  EXPECT_EQ(TraceReader::Open("/nonexistent.vcd", *map).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::sim
