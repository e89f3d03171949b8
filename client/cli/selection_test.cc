// SPDX-License-Identifier: Apache-2.0
#include "client/cli/selection.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(NamePatternTest, StarsAndQuestionMarks) {
  const struct {
    const char* pattern;
    const char* name;
    bool matches;
  } kCases[] = {
      {"", "", true},       {"", "a", false},        {"a", "a", true},        {"a", "b", false},
      {"*", "", true},      {"*", "abc", true},      {"?", "", false},        {"?", "a", true},
      {"?", "ab", false},   {"a*", "a", true},       {"a*", "ba", false},     {"*a", "ba", true},
      {"*a", "ab", false},  {"a*b*c", "abbc", true}, {"a*b*c", "acb", false}, {"*_cycles", "dram_read_cycles", true},
      {"a?c", "abc", true}, {"a?c", "ac", false},    {"**a**", "bab", true},  {"A", "a", false},
  };
  for (const auto& test : kCases)
    EXPECT_EQ(Matches(test.pattern, test.name), test.matches) << test.pattern << test.name;
}

TEST(NamePatternTest, ManyStarsAreNotSlow) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern, std::string(900, 'a') + "b"));
}

TEST(NamePatternTest, EventsAreMeantByTheNamesThatScreensShow) {
  const std::vector<std::string> events = {"busy", "busy_cycles", "l2_hit_cycles", "l2_miss_cycles"};
  EXPECT_EQ(EventPattern("busy", events), "busy");
  EXPECT_EQ(EventPattern("l2_hit", events), "l2_hit_cycles");
  EXPECT_EQ(EventPattern("l2_*", events), "l2_*");
  EXPECT_EQ(EventPattern("*_miss", events), "*_miss_cycles");
  EXPECT_EQ(EventPattern("l2", events), "l2") << "as it was given";
  EXPECT_EQ(EventPattern("x*", {}), "x*");
}

TEST(NamePatternTest, WhatIsOne) {
  EXPECT_TRUE(IsPattern("gpu*"));
  EXPECT_TRUE(IsPattern("gpu?"));
  EXPECT_FALSE(IsPattern("gpu0"));
  EXPECT_TRUE(MatchesAny(std::vector<std::string>{"x", "gpu?"}, "gpu1"));
  EXPECT_FALSE(MatchesAny({}, "gpu1"));
}

}  // namespace
}  // namespace sideband::client
