// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_lexer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/waveform/test_files.h"

namespace sideband::sim {
namespace {

using Tokens = std::vector<std::pair<std::string, size_t>>;  // with their lines

absl::StatusOr<Tokens> ReadTokens(const std::string& content) {
  auto lexer = VcdLexer::Open(WriteTestFile(content));
  if (!lexer.ok()) return lexer.status();
  Tokens tokens;
  while ((*lexer)->Next()) tokens.emplace_back(std::string((*lexer)->token()), (*lexer)->line());
  if (!(*lexer)->status().ok()) return (*lexer)->status();
  return tokens;
}

TEST(VcdLexerTest, SplitsAtWhiteSpaceAndCountsLines) {
  const Tokens expected = {{"a", 1}, {"bc", 2}, {"d", 4}};
  EXPECT_EQ(*ReadTokens("a\nbc\r\n\t\v\f\n d"), expected);
  EXPECT_EQ(*ReadTokens("  a\nbc\n\nd\n\n"), expected);
}

TEST(VcdLexerTest, EmptyFileHasNoToken) {
  EXPECT_TRUE(ReadTokens("")->empty());
  EXPECT_TRUE(ReadTokens(" \n\n")->empty());
}

TEST(VcdLexerTest, TokensAcrossEveryPlaceOfTheBufferAreWhole) {
  // The buffer has 256 KiB; a token of 7 bytes starts at each position around its end.
  constexpr size_t kBuffer = size_t{1} << 18;
  for (size_t before = kBuffer - 10; before <= kBuffer + 2; ++before) {
    const auto tokens = ReadTokens(std::string(before - 1, 'x') + " abcdefg\nh");
    ASSERT_TRUE(tokens.ok()) << tokens.status();
    EXPECT_EQ((*tokens)[1].first, "abcdefg") << before;
    EXPECT_EQ((*tokens)[2], (std::pair<std::string, size_t>("h", 2)));
  }
}

TEST(VcdLexerTest, NulBytesAreIgnoredAtTheEndAlone) {
  const std::string padding(size_t{3} << 20, '\0');
  const Tokens expected = {{"a", 1}, {"b", 2}};
  for (const std::string text : {"a\nb\n", "a\nb"}) {
    EXPECT_EQ(*ReadTokens(text + padding), expected);
    EXPECT_EQ(*ReadTokens(text + padding + " \n" + padding), expected);
    const absl::Status status = ReadTokens(text + padding + "c").status();
    EXPECT_NE(status.message().find(".vcd:"), absl::string_view::npos) << status;
    EXPECT_NE(status.message().find("NUL bytes before the end of the file"), absl::string_view::npos) << status;
  }
  EXPECT_TRUE(ReadTokens(padding)->empty());
}

TEST(VcdLexerTest, KnowsWhetherTheLastLineIsWhole) {
  const std::string padding(1000, '\0');
  const struct {
    std::string text;
    bool ends_within_line;
  } kRows[] = {{"", false}, {"a", true}, {"a\n", false}, {"a\r\n", false}, {"a\n ", true}, {padding, false}};
  for (const auto& row : kRows) {
    for (const std::string& text : {row.text, row.text + padding, std::string(size_t{1} << 18, '\n') + row.text}) {
      auto lexer = VcdLexer::Open(WriteTestFile(text));
      ASSERT_TRUE(lexer.ok());
      while ((*lexer)->Next()) {
      }
      EXPECT_EQ((*lexer)->ends_within_line(), row.ends_within_line) << row.text;
    }
  }
}

TEST(VcdLexerTest, ATokenMayBeReturned) {
  auto lexer = VcdLexer::Open(WriteTestFile("a bc d"));
  ASSERT_TRUE(lexer.ok() && (*lexer)->Next() && (*lexer)->Next());
  (*lexer)->Return();
  EXPECT_EQ((*lexer)->unread(), "bc d");
  ASSERT_TRUE((*lexer)->Next());
  EXPECT_EQ((*lexer)->token(), "bc");
}

TEST(VcdLexerTest, LongestTokenIsOneMebibyte) {
  const std::string longest(kVcdTokenBytesMax, 'x');
  EXPECT_EQ(ReadTokens("a " + longest)->at(1).first.size(), longest.size());
  EXPECT_EQ(ReadTokens("a " + longest + " b")->size(), 3u);
  const absl::Status status = ReadTokens("a\n" + longest + "x").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(".vcd:2: a word of more than 1048576 bytes"), absl::string_view::npos) << status;
}

TEST(VcdLexerTest, UnpacksGzip) {
  std::string content;
  for (int i = 0; i < 100000; ++i) content += std::to_string(i) + "\n";
  const auto tokens = ReadTokens(Gzipped(content));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 100000u);
  EXPECT_EQ(tokens->back(), (std::pair<std::string, size_t>("99999", 100000)));
}

TEST(VcdLexerTest, RefusesGzipThatIsCutOffOrDamaged) {
  const std::string packed = Gzipped(std::string(1000, 'a') + " b\nc");
  for (size_t size = 10; size < packed.size(); ++size) {
    const absl::Status status = ReadTokens(packed.substr(0, size)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size << " of " << packed.size();
  }
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // within the checksum
  EXPECT_EQ(ReadTokens(damaged).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(VcdLexerTest, FilesThatCannotBeReadAreNamed) {
  const absl::Status missing = VcdLexer::Open("/nonexistent.vcd").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.message().find("/nonexistent.vcd"), absl::string_view::npos);
  auto directory = VcdLexer::Open(testing::TempDir());
  ASSERT_TRUE(directory.ok());
  EXPECT_FALSE((*directory)->Next());
  EXPECT_FALSE((*directory)->status().ok());
}

TEST(VcdLexerTest, ExcerptIsShortAndPrintable) {
  EXPECT_EQ(Excerpt("a\n"), "'a\\n'");
  EXPECT_EQ(Excerpt(std::string(40, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(Excerpt(std::string(41, 'a')), "'" + std::string(40, 'a') + "…'");
}

TEST(VcdValueTest, ReadsDigits) {
  const struct {
    std::string digits;
    std::vector<uint64_t> words;
  } kRows[] = {
      {"0", {0}},
      {"1", {1}},
      {"1010", {10}},
      {"x1zX1Z", {0b010010}},                       // x and z are 0
      {"UuH1WwhLl-1", {0b00110010001}},             // VHDL's
      {std::string(64, '1'), {UINT64_MAX}},         // a whole word
      {"1" + std::string(64, '0'), {0, 1}},         // a whole word and a digit
      {"10" + std::string(63, '0') + "1", {1, 2}},  // both ends
      {std::string(129, '1'), {UINT64_MAX, UINT64_MAX, 1}},
  };
  VcdValue value;  // reused: no state of the previous value may remain
  for (const auto& row : kRows) {
    ASSERT_TRUE(value.Parse(row.digits)) << row.digits;
    EXPECT_EQ(value.digits(), row.digits.size());
    EXPECT_EQ(std::vector<uint64_t>(value.words().begin(), value.words().end()), row.words) << row.digits;
  }
}

TEST(VcdValueTest, RefusesWhatIsNoDigit) {
  VcdValue value;
  for (const char* digits : {"", "2", "01b", "a", "_", " 1", "\xff"}) EXPECT_FALSE(value.Parse(digits)) << digits;
  EXPECT_FALSE(value.Parse("2" + std::string(100, '0'))) << "in the last word";
}

TEST(VcdDigitsTest, DigitsEndAtTheFirstOtherByte) {
  const std::string slack(kVcdDigitsOverread, '1');
  for (int c = 0; c < 256; ++c) {
    if (c == '0' || c == '1') continue;
    for (size_t size = 0; size < 20; ++size) {
      const std::string text = std::string(size, '1') + static_cast<char>(c) + slack;
      EXPECT_EQ(SkipBinary(text.data()) - text.data(), size) << c;
    }
  }
}

TEST(VcdDigitsTest, ValuesOfEveryLength) {
  std::mt19937_64 random(1);
  for (size_t size = 1; size <= 64; ++size) {
    for (int i = 0; i < 20; ++i) {
      std::string digits;
      uint64_t value = 0;
      for (size_t k = 0; k < size; ++k) {
        digits += random() % 2 == 0 ? '0' : '1';
        value = value * 2 + (digits.back() == '1' ? 1 : 0);
      }
      // Bytes behind the digits are ignored.
      EXPECT_EQ(BinaryValue((digits + "11 !\n1111").data(), size), value) << digits;
      EXPECT_EQ(BinaryValue((digits + std::string(8, '\xff')).data(), size), value) << digits;
    }
  }
}

TEST(VcdDigitsTest, LinesOfEveryLength) {
  EXPECT_EQ(CountLines(""), 0u);
  for (const size_t size : {1, 7, 8, 9, 100, 2039, 2040, 2041, 5000}) {
    EXPECT_EQ(CountLines(std::string(size, '\n')), size);
    EXPECT_EQ(CountLines(std::string(size, '\x8a')), 0u) << "the same but for the highest bit";
    EXPECT_EQ(CountLines(std::string(size, '\x0b')), 0u);
    EXPECT_EQ(CountLines("\n" + std::string(size, '\x09')), 1u);
  }
}

}  // namespace
}  // namespace sideband::sim
