// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sideband::riscv {
namespace {

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

}  // namespace
}  // namespace sideband::riscv
