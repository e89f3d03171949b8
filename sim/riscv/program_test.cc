// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kBase = 0x10000;
constexpr uint64_t kSize = 0x2000;

TEST(MemoryTest, IsZeroAtTheStart) {
  const Memory memory(kBase, kSize);
  for (uint64_t address = kBase; address < memory.end(); address += 8) {
    ASSERT_EQ(memory.Load<uint64_t>(address), 0u);
  }
}

TEST(MemoryTest, IsLittleEndianAtAnyAlignment) {
  Memory memory(kBase, kSize);
  EXPECT_TRUE(memory.Store<uint32_t>(kBase + 1, 0x04030201));
  EXPECT_EQ(memory.Load<uint8_t>(kBase + 1), 1u);
  EXPECT_EQ(memory.Load<uint16_t>(kBase + 3), 0x0403u);
  EXPECT_EQ(memory.Load<uint64_t>(kBase), 0x0000000403020100u);
}

TEST(MemoryTest, HasNothingOutsideItsBounds) {
  Memory memory(kBase, kSize);
  const struct {
    uint64_t address;
    uint64_t size;
    bool contained;
  } kRows[] = {
      {kBase, 0, true},
      {kBase, kSize, true},
      {kBase, kSize + 1, false},
      {kBase + 1, kSize, false},
      {kBase - 1, 1, false},
      {kBase - 1, 2, false},
      {kBase + kSize - 1, 1, true},
      {kBase + kSize, 0, true},
      {kBase + kSize, 1, false},
      {0, 8, false},
      {~uint64_t{0}, 8, false},              // the end wraps round
      {~uint64_t{0} - 7, 8, false},          //
      {kBase, ~uint64_t{0}, false},          //
      {kBase + 1, ~uint64_t{0} - 1, false},  //
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(memory.Contains(row.address, row.size), row.contained) << row.address << " " << row.size;
  }
  EXPECT_EQ(memory.Load<uint64_t>(kBase + kSize - 7), std::nullopt);
  EXPECT_FALSE(memory.Store<uint64_t>(kBase + kSize - 7, ~uint64_t{0}));
  EXPECT_EQ(memory.Load<uint64_t>(kBase + kSize - 8), 0u) << "not in part either";
}

TEST(MemoryTest, WritesWordsOrNone) {
  Memory memory(kBase, kSize);
  const uint32_t words[] = {1, 2, 3};
  EXPECT_TRUE(memory.Write(memory.end() - 12, words));
  EXPECT_EQ(memory.Load<uint32_t>(memory.end() - 4), 3u);
  EXPECT_FALSE(memory.Write(memory.end() - 8, words));
  EXPECT_EQ(memory.Load<uint32_t>(memory.end() - 8), 2u);
  EXPECT_TRUE(memory.Write(memory.end(), {}));
}

TEST(ProgramTest, ReadsWordsAndLeavesOutComments) {
  const auto program = ParseProgram("# a program\n\n00000513   # li a0, 0\r\n  DEADbeef\nffffffff", "p.hex");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->words, (std::vector<uint32_t>{0x513, 0xdeadbeef, 0xffffffff}));
}

TEST(ProgramTest, RefusesAnythingElseWithItsLine) {
  const struct {
    std::string text;
    std::string error;
  } kRows[] = {
      {"", "p.hex:1: a program without words"},
      {"# nothing\n", "p.hex:2: a program without words"},
      {"00000513\n0000051\n", "p.hex:2: not a word of 8 hexadecimal digits"},
      {"000005130\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {"0x000513\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {"-0000513\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {"+0000513\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {"0000 513\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {"00000513 00000513\n", "p.hex:1: not a word of 8 hexadecimal digits"},
      {std::string("0000\0"
                   "513",
                   8),
       "p.hex:1: not a word of 8 hexadecimal digits"},
  };
  for (const auto& row : kRows) {
    const auto program = ParseProgram(row.text, "p.hex");
    EXPECT_EQ(program.status(), absl::InvalidArgumentError(row.error)) << row.text;
  }
}

TEST(ProgramTest, IsBounded) {
  std::string text;
  for (size_t i = 0; i < Program::kWordsMax; ++i) text += "00000013\n";
  EXPECT_TRUE(ParseProgram(text, "p.hex").ok());
  EXPECT_EQ(ParseProgram(text + "00000013\n", "p.hex").status(),
            absl::InvalidArgumentError("p.hex:1048577: more than 1048576 words"));
}

TEST(ProgramTest, AMissingFileIsNamed) {
  EXPECT_EQ(LoadProgram("no/such.hex").status().code(), absl::StatusCode::kNotFound);
}

using Arguments = std::array<uint64_t, 6>;

constexpr uint64_t kCallerBase = 0x10000;
constexpr uint64_t kCallerSize = 0x20000;
constexpr uint64_t kWrite = 64;

uint64_t Error(int number) { return static_cast<uint64_t>(int64_t{-number}); }

TEST(LinuxCallsTest, WritesToTheTwoOutputs) {
  Memory memory(kCallerBase, kCallerSize);
  memory.Store<uint32_t>(kCallerBase + 5, 0x64636261);
  LinuxCalls calls;
  EXPECT_EQ(calls.Call(kWrite, Arguments{1, kCallerBase + 5, 3}, memory).a0, 3u);
  EXPECT_EQ(calls.Call(kWrite, Arguments{2, kCallerBase + 8, 1}, memory).a0, 1u);
  EXPECT_EQ(calls.Call(kWrite, Arguments{1, kCallerBase + 5, 0}, memory).a0, 0u);
  EXPECT_EQ(calls.output(), "abcd");
}

TEST(LinuxCallsTest, RefusesWhatLinuxRefuses) {
  Memory memory(kCallerBase, kCallerSize);
  const struct {
    Arguments arguments;
    int error;
  } kRows[] = {
      {{0, kCallerBase, 1}, 9},
      {{3, kCallerBase, 1}, 9},
      {{~uint64_t{0}, kCallerBase, 1}, 9},
      {{1, 0, 1}, 14},
      {{1, kCallerBase + kCallerSize, 1}, 14},
      {{1, kCallerBase + 1, kCallerSize}, 14},
      {{1, kCallerBase, ~uint64_t{0}}, 14},
      {{1, ~uint64_t{0}, 2}, 14},
      {{1, kCallerBase, LinuxCalls::kOutputMax + 1}, 28},
  };
  for (const auto& row : kRows) {
    LinuxCalls calls;
    const Environment::Result result = calls.Call(kWrite, row.arguments, memory);
    EXPECT_EQ(result.a0, Error(row.error));
    EXPECT_FALSE(result.exit_code);
    EXPECT_EQ(calls.output(), "");
  }
}

TEST(LinuxCallsTest, OutputIsBounded) {
  Memory memory(kCallerBase, kCallerSize);
  LinuxCalls calls;
  EXPECT_EQ(calls.Call(kWrite, Arguments{1, kCallerBase, LinuxCalls::kOutputMax}, memory).a0, LinuxCalls::kOutputMax);
  EXPECT_EQ(calls.Call(kWrite, Arguments{1, kCallerBase, 1}, memory).a0, Error(28));
  EXPECT_EQ(calls.output().size(), LinuxCalls::kOutputMax);
}

TEST(LinuxCallsTest, ExitsWithTheLowestByte) {
  Memory memory(kCallerBase, kCallerSize);
  LinuxCalls calls;
  EXPECT_EQ(calls.Call(93, Arguments{0x1234}, memory).exit_code, 0x34);
}

TEST(LinuxCallsTest, OtherCallsDoNotExist) {
  Memory memory(kCallerBase, kCallerSize);
  LinuxCalls calls;
  for (const uint64_t number : {uint64_t{0}, uint64_t{63}, uint64_t{94}, ~uint64_t{0}}) {
    const Environment::Result result = calls.Call(number, Arguments{}, memory);
    EXPECT_EQ(result.a0, Error(38));
    EXPECT_FALSE(result.exit_code);
  }
}

}  // namespace
}  // namespace sideband::riscv
