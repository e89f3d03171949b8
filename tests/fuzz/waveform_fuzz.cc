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
#include "tests/fuzz/memory_file.h"

namespace sideband::fuzz {
namespace {

enum Part { kMap, kSchedule, kTrace, kParts };
using Texts = std::array<std::string, kParts>;

// An FST file would be passed to an external program, which is not under test.
constexpr absl::string_view kFstStart("\0\0\0\0\0\0\0\x01\x49", 9);

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
  if (text.substr(0, kFstStart.size()) == kFstStart) return;
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

}  // namespace

std::vector<Bytes> Seeds() {
  Texts large = Usual();
  for (int i = 0; i < 5000; ++i) large[kTrace] += "#" + std::to_string(30 + i) + (i % 2 == 0 ? " 0!\n" : " 1!\n");
  return {Input(Usual()), Input(large)};
}

}  // namespace sideband::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sideband::fuzz;  // NOLINT(google-build-using-namespace): this function must be outside of it
  const Texts texts = TextsOf(absl::string_view(reinterpret_cast<const char*>(data), size));
  CheckError(sideband::sim::ParseSchedule(texts[kSchedule], "C.csv").status(), "C.csv");
  const auto map = sideband::sim::SignalMap::Parse(texts[kMap], "S.json");
  CheckError(map.status(), "S.json");
  if (map.ok()) CheckTrace(texts[kTrace], *map);
  return 0;
}
