// SPDX-License-Identifier: Apache-2.0
//
// Counts of a real design's waveform against those of an independent script.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::sim {
namespace {

using Counters = std::map<std::string, uint64_t>;
// By VM and context ("" for the VM as a whole).
using Blocks = std::map<std::pair<std::string, std::string>, Counters>;

void Add(const TraceReader& reader, const SignalMap& map, const TraceChunk& chunk, CycleRange range,
         Counters& counters) {
  for (size_t event = 0; event < map.events().size(); ++event) {
    for (const EventWire& wire : reader.wires(event)) {
      uint64_t sum = 0;
      chunk.AddCounts(range, std::span(&wire.wire, 1), std::span(&sum, 1));
      counters[map.events()[event].name] += sum << wire.shift;
    }
  }
}

CycleRange Intersect(const Residency& residency, const CycleRange& range) {
  const uint64_t begin = std::max(residency.start_cycle, range.begin);
  return {begin, std::max(begin, std::min(residency.end_cycle, range.end))};
}

Blocks Expected(const nlohmann::json& json) {
  Blocks blocks;
  for (const auto& block : json["blocks"]) {
    const std::string context = block["context"].is_null() ? "" : block["context"].get<std::string>();
    blocks[{block["vm"].get<std::string>(), context}] = block["counters"].get<Counters>();
  }
  blocks[{"whole_trace", ""}] = json["whole_trace"].get<Counters>();
  return blocks;
}

void AddToBlocks(const TraceReader& reader, const SignalMap& map, const TraceChunk& chunk, const Residency& row,
                 Blocks& blocks) {
  const CycleRange range = Intersect(row, chunk.range());
  Add(reader, map, chunk, range, blocks[{row.vm, ""}]);
  Add(reader, map, chunk, range, blocks[{"vm0", ""}]);
  if (!row.context.empty()) Add(reader, map, chunk, range, blocks[{row.vm, row.context}]);
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, CountsEqualTheIndependentScript) {
  const char* directory = std::getenv("SIDEBAND_SHARED_DATA");
  if (directory == nullptr) GTEST_SKIP() << "SIDEBAND_SHARED_DATA does not name the directory of shared test data";
  const std::string stem = std::string(directory) + "/" + GetParam();
  std::ifstream expected_file(stem + ".expected.json");
  if (!expected_file) GTEST_SKIP() << stem << ".expected.json is not there";
  const auto expected = nlohmann::json::parse(expected_file);
  const auto map = SignalMap::Load(std::string(directory) + "/tinygpu.signals.json");
  ASSERT_TRUE(map.ok()) << map.status();
  const auto schedule = LoadSchedule(stem + ".schedule.csv");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const auto reader = TraceReader::Open(stem + ".vcd.gz", *map);
  ASSERT_TRUE(reader.ok()) << reader.status();
  Blocks blocks;
  for (;;) {
    const auto chunk = (*reader)->Next();
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    if (*chunk == nullptr) break;
    Add(**reader, *map, **chunk, (*chunk)->range(), blocks[{"whole_trace", ""}]);
    for (const Residency& row : *schedule) AddToBlocks(**reader, *map, **chunk, row, blocks);
  }
  EXPECT_EQ((*reader)->cycles(), expected["cycles"].get<uint64_t>());
  EXPECT_EQ(blocks, Expected(expected));
}

INSTANTIATE_TEST_SUITE_P(Traces, GoldenTest, testing::Values("tinygpu-small", "tinygpu"),
                         [](const auto& info) { return info.param == "tinygpu" ? "Whole" : "Small"; });

}  // namespace
}  // namespace sideband::sim
