// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace sideband {
namespace {

std::string Repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) absl::StrAppend(&all, text);
  return all;
}

std::string Error(const std::string& text, YamlBounds bounds = {.depth_max = 3, .nodes_max = 10}) {
  return std::string(CheckYamlBounds(text, "f", bounds).message());
}

TEST(YamlBoundsTest, DepthHasABoundOnBothSides) {
  EXPECT_EQ(Error("[[[1]]]"), "");
  EXPECT_EQ(Error("[[[[1]]]]"), "f:1: nested more than 3 deep");
  EXPECT_EQ(Error("a:\n  {b: [{c: 1}]}"), "");
  EXPECT_EQ(Error("a:\n  {b: [{c: [1]}]}"), "f:2: nested more than 3 deep");
  EXPECT_EQ(Error("[[1], [2], [3]]"), "") << "side by side";
  EXPECT_EQ(Error("- - - 1\n- - - 1\n"), "");
  EXPECT_EQ(Error("1:\n- - - - 1"), "f:2: nested more than 3 deep");
  EXPECT_EQ(Error(Repeat("[", 1 << 20)), "f:1: nested more than 3 deep");
}

TEST(YamlBoundsTest, TextIsNoStructure) {
  for (const char* text : {"\"[[[[\"", "'[[[['", "# [[[[", "a: 1 # [[[[", R"("\"[[[[")", "[\"]\", '[[[']", "a[[[[: b",
                           "- don't [[\n- can't", "--- 1 - 2 - 3 - 4-"}) {
    EXPECT_EQ(Error(text), "") << text;
  }
  EXPECT_EQ(Error("'it''s' [[[["), "f:1: nested more than 3 deep") << "the quotes end";
  EXPECT_EQ(Error("\"\n\n\" [[[["), "f:3: nested more than 3 deep") << "lines in quotes are lines";
  EXPECT_EQ(Error("# '\n[[[["), "f:2: nested more than 3 deep") << "a comment ends with its line";
}

TEST(YamlBoundsTest, NodesHaveABoundOnBothSides) {
  EXPECT_EQ(Error("[0,1,2,3,4,5,6,7,8,9]"), "");
  EXPECT_EQ(Error("[0,1,2,3,4,5,6,7,8,9,10]"), "f:1: more than 10 values");
  EXPECT_EQ(Error(Repeat("- 1\n", 10)), "");
  EXPECT_EQ(Error(Repeat("- 1\n", 11)), "f:11: more than 10 values");
  EXPECT_EQ(Error(Repeat("a: 1\n", 10)), "");
  EXPECT_EQ(Error(Repeat("a:\n", 11)), "f:11: more than 10 values");
  EXPECT_EQ(Error(Repeat("a:b\n", 100)), "") << "a plain text";
}

TEST(YamlBoundsTest, WhateverEndsTooEarlyIsNoError) {
  for (const char* text : {"", "\"", "'", "\"\\", "#", "[", "{\"a", "]", "-", ":"}) EXPECT_EQ(Error(text), "") << text;
}

YamlNode Parsed(const std::string& text) { return *YamlNode::Parse(text, "f.yaml"); }

std::string MapError(const std::string& text) {
  return std::string(Parsed(text).Map({"name", "period"}).status().message());
}

TEST(YamlTest, ReadsTypedValues) {
  const auto map = Parsed("name: ulc0\nperiod: 511\n").Map({"name", "period", "lanes"});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(*map->String("name"), "ulc0");
  EXPECT_EQ(*map->Uint("period", 1, 511), 511u);
  EXPECT_EQ(*map->UintOr("lanes", 1, 1, 64), 1u) << "absent";
}

TEST(YamlTest, UnknownKeyIsNamedWithTheNearest) {
  EXPECT_EQ(MapError("name: x\nperoid: 3\n"), "f.yaml:2: unknown key 'peroid' (did you mean 'period'?)");
}

TEST(YamlTest, RepeatedKeyIsRefused) {
  EXPECT_EQ(MapError("name: x\nname: y\n"), "f.yaml:2: key 'name' is given twice");
}

TEST(YamlTest, MissingKeyIsNamed) {
  const auto map = Parsed("name: x\n").Map({"name", "period"});
  EXPECT_EQ(map->Uint("period", 1, 2).status().message(), "f.yaml:1: key 'period' is missing");
}

TEST(YamlTest, RangesHoldAtBothEnds) {
  EXPECT_TRUE(Parsed("1").Uint(1, 511).ok());
  EXPECT_TRUE(Parsed("511").Uint(1, 511).ok());
  EXPECT_EQ(Parsed("0").Uint(1, 511).status().message(), "f.yaml:1: expected a whole number from 1 to 511");
  EXPECT_FALSE(Parsed("512").Uint(1, 511).ok());
  EXPECT_FALSE(Parsed("-1").Uint(0, 511).ok());
  EXPECT_FALSE(Parsed("[1]").Uint(0, 511).ok());
  EXPECT_EQ(*Parsed("0x4f").Uint(0, 127), 0x4fu);
}

TEST(YamlTest, DurationsNeedAUnit) {
  EXPECT_EQ(*Parsed("250ms").Duration(absl::ZeroDuration(), absl::Hours(1)), absl::Milliseconds(250));
  EXPECT_EQ(Parsed("250").Duration(absl::ZeroDuration(), absl::Hours(1)).status().message(),
            "f.yaml:1: expected a duration from 0 to 1h, such as 250ms or 1s");
  const auto map = Parsed("{name: 1s, period: 1}").Map({"name", "period"});
  EXPECT_EQ(map->DurationOr("period", absl::Seconds(1), absl::Seconds(1), absl::Hours(1)).status().message(),
            "f.yaml:1: period is 1, must be a duration from 1s to 1h, such as 250ms or 1s");
}

TEST(YamlTest, SyntaxErrorHasItsLine) {
  const auto broken = YamlNode::Parse("a: 1\nb: [1,\n", "f.yaml");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.status().message().substr(0, 7), "f.yaml:");
}

TEST(YamlTest, JsonIsReadAsYaml) {
  const YamlNode root = Parsed("{\"name\": \"a.\\\\b [3:0]\",\n\t\"period\": 7}");
  const auto map = root.Map({"name", "period"});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(*map->String("name"), "a.\\b [3:0]");
  EXPECT_EQ(map->Get("period")->line(), 2u);
}

TEST(YamlTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(YamlNode::Parse("a:\n\tb: 1\n", "f.yaml").status().message(), "f.yaml:2: a tab: YAML indents with blanks");
  EXPECT_EQ(YamlNode::Parse("a: {b: 1\n", "f.yaml").status().message(),
            "f.yaml:1: this '{' is not closed, a ',' is missing in it, or a text with brackets needs quotes");
  EXPECT_EQ(YamlNode::Parse("a: [b\n", "f.yaml").status().message(),
            "f.yaml:1: this '[' is not closed, a ',' is missing in it, or a text with brackets needs quotes");
}

// In our words, at the line of the cause.
TEST(YamlTest, TheParsersErrorsSayWhatToMend) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"a: - b\n", "f.yaml:1: an entry '- ' where a list cannot begin: it needs a line of its own, below its key"},
      {"a: b: c\n",
       "f.yaml:1: a ': ' inside a value: give each key its own line, indented like its neighbours, or put the text in "
       "quotes"},
      {"- a\nb: 1\n", "f.yaml:2: this line belongs to none of the keys and entries above"},
      {"a: [b]]\n", "f.yaml:1: a bracket is closed that is not open, or a text with brackets needs quotes"},
      {"a:\n  - {b: 1\nc:\n  - d\n",
       "f.yaml:2: this '{' is not closed, a ',' is missing in it, or a text with brackets needs quotes"},
      {"{\n\t\"a\": [1,\n\t\t2\n}\n",
       "f.yaml:2: this '[' is not closed, a ',' is missing in it, or a text with brackets needs quotes"},
      {"a: *b\n", "f.yaml:1: a text that begins with '*' needs quotes"},
      {"a: @b\n", "f.yaml:1: a text that begins with a special character needs quotes"},
      {"a:\n  b: 1\n c: 2\n",
       "f.yaml:3: this line is indented unlike those that it belongs to, or has text after a closing quote or bracket"},
  };
  for (const auto& test : kCases) EXPECT_EQ(YamlNode::Parse(test.text, "f.yaml").status().message(), test.message);
}

TEST(YamlTest, AFileIsOneDocument) {
  EXPECT_TRUE(YamlNode::Parse("---\na: 1\n...\n", "f.yaml").ok());
  EXPECT_TRUE(YamlNode::Parse("", "f.yaml").ok()) << "of no kind";
  EXPECT_EQ(YamlNode::Parse("a: 1\n---\na: 2\n", "f.yaml").status().message(),
            "f.yaml:2: a second document: a file has one");
  EXPECT_FALSE(YamlNode::Parse("a: 1\n---\n", "f.yaml").ok());
}

TEST(YamlTest, TextThatIsNoYamlEnds) {
  for (const char* text : {",", "{a: 1}, \"b\": 2}", "{a: 1}\"\n", "[1]]", "a: (b\n\"c\",\n  \"d\"\n)"}) {
    const auto root = YamlNode::Parse(text, "f.yaml");
    ASSERT_FALSE(root.ok()) << text;
    EXPECT_EQ(root.status().message().substr(0, 7), "f.yaml:") << text;
  }
}

TEST(YamlTest, WhatIsTooDeepOrTooLargeIsNotParsed) {
  EXPECT_EQ(YamlNode::Parse(std::string(65, '['), "f.yaml").status().message(), "f.yaml:1: nested more than 64 deep");
  EXPECT_EQ(YamlNode::Parse("[1, 2]", "f.yaml", {.nodes_max = 1}).status().message(), "f.yaml:1: more than 1 values");
}

TEST(YamlTest, ANulByteIsNotTheEnd) {
  const std::string text("name: a\nperiod: 7\0\nunknown: 1\n", 30);
  EXPECT_EQ(YamlNode::Parse(text, "f.yaml").status().message(), "f.yaml:2: a NUL byte");
  EXPECT_EQ(YamlNode::Parse(std::string(1, '\0'), "f.yaml").status().message(), "f.yaml:1: a NUL byte");
}

TEST(YamlTest, ManyBadKeysAreCountedAndNotLookedAt) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&text, "unknown_key_", i, ": 1\n");
  ErrorList errors;
  EXPECT_TRUE(Parsed(text).Map({"name", "period"}, errors).has_value());
  EXPECT_EQ(errors.count(), 20'000u);
  EXPECT_EQ(errors.All().size(), ErrorList::kErrorsMax + 1);
  EXPECT_EQ(errors.All().back().message(), "and 19900 more errors");
}

TEST(YamlTest, GoesOnAfterABadKey) {
  ErrorList errors;
  const auto map = Parsed("name: a\nnmae: b\nname: c\nperiod: 7\n[1]: 2\n").Map({"name", "period"}, errors);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(*map->String("name"), "a");
  EXPECT_EQ(*map->Uint("period", 1, 9), 7u);
  ASSERT_EQ(errors.count(), 3u);
  EXPECT_EQ(errors.All()[0].message(), "f.yaml:3: key 'name' is given twice");
  EXPECT_EQ(errors.All()[1].message(), "f.yaml:5: expected a text");
  EXPECT_EQ(errors.All()[2].message(), "f.yaml:2: unknown key 'nmae' (did you mean 'name'?)");
  EXPECT_FALSE(Parsed("[1]").Map({"name"}, errors).has_value());
  EXPECT_EQ(errors.All()[3].message(), "f.yaml:1: expected a mapping (key: value)");
}

TEST(YamlTest, MissingFileIsNamed) {
  EXPECT_EQ(YamlNode::Load("/nonexistent.yaml").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace

}  // namespace sideband
