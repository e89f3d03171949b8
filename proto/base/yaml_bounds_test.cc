// SPDX-License-Identifier: Apache-2.0
#include "proto/base/yaml_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

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

}  // namespace
}  // namespace sideband
