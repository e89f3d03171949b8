// SPDX-License-Identifier: Apache-2.0
//
// The inputs of `sideband-mcu replay`: signal map, schedule and trace. Cycles have no gaps, and every error is one line
// that names its file.
//   Input: three texts, separated by NUL bytes; a missing text is that of the first seed.
#include <array>
#include <string>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

enum Part { kMap, kSchedule, kTrace, kParts };
using Texts = std::array<std::string, kParts>;

// An FST file would be passed to an external program, which is not under test.
constexpr absl::string_view kFstStart("\0\0\0\0\0\0\0\x01\x49", 9);
constexpr absl::string_view kPackedFstStart("\xfe", 1);

Texts Usual() {
  return {R"({"clock": "t.clk", "events": [{"name": "a", "signal": "t.a", "op": "high"}, )"
          R"({"name": "v", "signal": "t.v[7:0]", "op": "value", "count": "prescaled", "clock": "t.c2"}, )"
          R"({"name": "w", "signal": "t.w", "op": "equals", "value": 3, "bit": 2}]})",
          "start_cycle,end_cycle,vm,context,slice\n0,2,vm1,a,0\n2,9,vm2,,1\n",
          "$timescale 1ns $end $scope module t $end $var wire 1 ! clk $end $var wire 1 c c2 $end $var wire 1 a a $end\n"
          "$var wire 8 # v [7:0] $end $var wire 70 w w [69:0] $end $var real 64 r r $end $upscope $end\n"
          "$enddefinitions $end\n#0 0! 0c xa b0 # bz w r1.5 r $dumpvars 1a $end\n#5 1! 1c b101 #\n#10 0! 0c $dumpoff "
          "xa $end\n"
          "#15 1! $dumpon $end #16 1c\n#20 0! b1x1 w\n#25 1!\n"};
}

// Forms that are not in the standard, and parts of a vector.
Texts Foreign() {
  return {R"({"clock": "t.clk", "events": [{"name": "b", "signal": "t.bus", "op": "value", "slice": 0.0}, )"
          R"({"name": "h", "signal": "t.bus[7:4]", "op": "popcount"}, )"
          R"({"name": "n", "signal": "t.neg", "op": "high", "bit": -4}]})",
          "\"start_cycle\",\"end_cycle\",\"vm\",\"context\"\n\"0\",\"1\",\"v\"\"1\",\"a,\"\n1,2,v2,\n",
          "$var wire 0 z none $end $scope module $end $end $scope module t $end $var wire 1 ! clk $end\n"
          "$var wire 4 h bus [7:4] $end $var wire 4 l bus [3:0] $end $var wire 8 n neg [3:-4] $end\n"
          "$var port [1:0] <0 pin $end $var string 1 \xc3\xa9 text $end $upscope $end\n"
          "$dumpvars b z 0! b1 n $end #0.0 b1010 h b11 l pDU 60 06 <0 stwo words \xc3\xa9\n#5.5 1!\n"
          "#5.75 $foo text $end 0! b0 h\n#6 1!\n"};
}

// Ports of extended VCD.
Texts Ports() {
  return {R"({"clock": "t.clk", "events": [{"name": "q", "signal": "t.q", "op": "value"}]})",
          "slice,vm,context,start_cycle,end_cycle\n1,vm1,a,0,9\n",
          "$scope module t $end $var port 1 <0 clk $end $var port [3:0] <1 q $end $upscope $end $enddefinitions $end\n"
          "#0 $dumpports pD 6 0 <0 pLHTX 6066 0606 <1 $end\n#5 pU 0 6 <0\n#6 $dumpportsoff pX 6 6 <0 $end\n"
          "#7 $dumpportson pD 6 0 <0 $end #8 pU 0 6 <0\n"};
}

Bytes Input(const Texts& texts) {
  Bytes bytes;
  for (size_t part = 0; part < texts.size(); ++part) {
    if (part > 0) bytes.push_back(0);
    bytes.insert(bytes.end(), texts[part].begin(), texts[part].end());
  }
  return bytes;
}

Texts TextsOf(absl::string_view input) {
  Texts texts = Usual();
  const std::vector<absl::string_view> given = absl::StrSplit(input, absl::MaxSplits('\0', kParts - 1));
  for (size_t part = 0; part < given.size(); ++part) texts[part] = std::string(given[part]);
  return texts;
}

void CheckError(const absl::Status& status, const std::string& path) {
  FUZZ_CHECK(status.ok() || status.message().substr(0, path.size() + 1) == path + ":");
  FUZZ_CHECK(status.message().find('\n') == absl::string_view::npos);
}

void CheckTrace(const std::string& text, const sim::SignalMap& map) {
  if (text.substr(0, kFstStart.size()) == kFstStart || text.substr(0, 1) == kPackedFstStart) return;
  const MemoryFile file({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  const auto reader = sim::TraceReader::Open(file.path(), map);
  if (!reader.ok()) return;
  uint64_t cycles = 0;
  for (;;) {
    const auto chunk = (*reader)->Next();
    if (!chunk.ok()) return CheckError(chunk.status(), file.path());
    if (*chunk == nullptr) break;
    FUZZ_CHECK((*chunk)->range().begin == cycles);
    cycles = (*chunk)->range().end;
  }
  FUZZ_CHECK(cycles == (*reader)->cycles());
}

std::vector<Bytes> Seeds() {
  Texts large = Usual();
  for (int i = 0; i < 5000; ++i) large[kTrace] += "#" + std::to_string(30 + i) + (i % 2 == 0 ? " 0!\n" : " 1!\n");
  return {Input(Usual()), Input(large), Input(Foreign()), Input(Ports())};
}

int RunInput(const uint8_t* data, size_t size) {
  const Texts texts = TextsOf(absl::string_view(reinterpret_cast<const char*>(data), size));
  CheckError(sideband::sim::ParseSchedule(texts[kSchedule], "C.csv").status(), "C.csv");
  const auto map = sideband::sim::SignalMap::Parse(texts[kMap], "S.json");
  CheckError(map.status(), "S.json");
  if (map.ok()) CheckTrace(texts[kTrace], *map);
  return 0;
}

FUZZ_TARGET(waveform_fuzz);

}  // namespace
}  // namespace sideband::fuzz
