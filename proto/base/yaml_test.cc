// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace sideband {
namespace {

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
  EXPECT_FALSE(Parsed("250").Duration(absl::ZeroDuration(), absl::Hours(1)).ok());
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
