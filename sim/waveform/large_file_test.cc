// SPDX-License-Identifier: Apache-2.0
//
// A trace of more than 2^32 bytes and lines, nearly all of them empty; gzip compresses it to a few megabytes.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/test_files.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::sim {
namespace {

constexpr size_t kMemberBytes = size_t{64} << 20;
constexpr size_t kMembers = 65;
static_assert(kMemberBytes * kMembers > uint64_t{1} << 32);

TEST(LargeFileTest, CountsBytesAndLinesBeyondThirtyTwoBits) {
  // Concatenated gzip files are a valid gzip file.
  std::string packed = Gzipped(
      "$var wire 1 ! clk $end $var wire 1 a a $end $enddefinitions $end\n"
      "#0 0!\n#1 1a\n#2 1!");
  const std::string empty_lines = Gzipped(std::string(kMemberBytes, '\n'));
  for (size_t i = 0; i < kMembers; ++i) packed += empty_lines;
  packed += Gzipped("#3 0!\n#4 1!\n#5 0!\n#6 garbage\n");

  const auto map =
      SignalMap::Parse(R"({"clock": "clk", "events": [{"name": "e", "signal": "a", "op": "high"}]})", "S.json");
  ASSERT_TRUE(map.ok()) << map.status();
  const auto reader = TraceReader::Open(WriteTestFile(packed), *map);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const std::string message((*reader)->Next().status().message());
  EXPECT_EQ((*reader)->cycles(), 2u) << "one before, one behind";
  const uint64_t line = 4 + kMembers * kMemberBytes + 3;
  EXPECT_EQ(message, absl::StrCat((*reader)->path(), ":", line, ": malformed change 'garbage'"));
}

}  // namespace
}  // namespace sideband::sim
