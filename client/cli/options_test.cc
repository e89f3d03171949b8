// SPDX-License-Identifier: Apache-2.0
#include "client/cli/options.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(WhenOptionTest, DurationsAreAgoAndTimesAreTimes) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  EXPECT_EQ(ParseWhen("5m", now), now - absl::Minutes(5));
  EXPECT_EQ(ParseWhen("1h30m", now), now - absl::Minutes(90));
  EXPECT_EQ(ParseWhen("0", now), now);
  EXPECT_EQ(ParseWhen("1970-01-01T00:00:01.5Z", now), absl::FromUnixMillis(1500));
  EXPECT_EQ(ParseWhen("1970-01-01T01:00:00+01:00", now), absl::UnixEpoch());
}

TEST(WhenOptionTest, DaysAndDates) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  EXPECT_EQ(ParseWhen("2d", now), now - absl::Hours(48));
  EXPECT_EQ(ParseWhen("1970-01-02", now), absl::UnixEpoch() + absl::Hours(24));
}

TEST(ParseLengthTest, SecondsNeedNoUnit) {
  EXPECT_EQ(ParseLength("1"), absl::Seconds(1));
  EXPECT_EQ(ParseLength("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(ParseLength("1h30m"), absl::Minutes(90));
  EXPECT_EQ(ParseLength("1.5d"), absl::Hours(36));
  EXPECT_EQ(ParseLength("1d12h"), absl::Hours(36));
  for (const char* text : {"", "d", "1x", "1.2.3", "-d", "1 d"}) EXPECT_EQ(ParseLength(text), std::nullopt) << text;
}

TEST(WhenOptionTest, AnythingElseIsRefused) {
  for (const char* text : {"", "5", "-5m", "inf", "5 minutes", "yesterday", "1970-01", "12:00", "d", "70-01-01",
                           "1970-13-01", "infinite-past", "infinite-future", "87841h"}) {
    EXPECT_FALSE(ParseWhen(text, absl::UnixEpoch()).has_value()) << text;
  }
}

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
