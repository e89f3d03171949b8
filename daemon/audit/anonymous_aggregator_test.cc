// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/anonymous_aggregator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

constexpr absl::Duration kNow = absl::Hours(7);

AuditEntry Nobodys(const std::string& endpoint, const std::string& reason = "token: it has expired") {
  return {.endpoint = endpoint,
          .resource = endpoint + "?x",
          .decision = AuditDecision::kDeny,
          .reason = reason,
          .policy_version = 3,
          .detail = {"bearer token"}};
}

TEST(AnonymousAggregatorTest, TheFirstIsWrittenAndTheOthersAreCounted) {
  AnonymousAggregator repeats({.window = absl::Minutes(1)});
  EXPECT_EQ(repeats.next_end(), absl::InfiniteDuration());
  EXPECT_FALSE(repeats.Count(Nobodys("GET /"), kNow));
  EXPECT_EQ(repeats.next_end(), kNow + absl::Minutes(1));
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(repeats.Count(Nobodys("GET /"), kNow + absl::Seconds(i)));
  AuditEntry last = Nobodys("GET /");
  last.resource = "/?another";
  EXPECT_TRUE(repeats.Count(last, kNow + absl::Seconds(59)));
  EXPECT_TRUE(repeats.TakeEnded(kNow + absl::Seconds(59)).empty());
  last.repeated = 6;
  EXPECT_EQ(repeats.TakeEnded(kNow + absl::Seconds(60)), std::vector<AuditEntry>{last});
  EXPECT_EQ(repeats.next_end(), absl::InfiniteDuration());
  EXPECT_FALSE(repeats.Count(Nobodys("GET /"), kNow + absl::Seconds(61))) << "a new window, and its first";
}

TEST(AnonymousAggregatorTest, OneAloneHasNoSummary) {
  AnonymousAggregator repeats({});
  EXPECT_FALSE(repeats.Count(Nobodys("GET /"), kNow));
  EXPECT_TRUE(repeats.TakeAll().empty());
}

TEST(AnonymousAggregatorTest, WhatDiffersIsOfAnotherKind) {
  AnonymousAggregator repeats({});
  AuditEntry another = Nobodys("GET /");
  another.detail = {"certificate uri spiffe://example.org/other"};
  for (const AuditEntry& entry : {Nobodys("GET /"), Nobodys("GET /metrics"), Nobodys("GET /", "other"), another}) {
    EXPECT_FALSE(repeats.Count(entry, kNow));
    EXPECT_TRUE(repeats.Count(entry, kNow));
  }
  EXPECT_EQ(repeats.TakeAll().size(), 4u);
}

TEST(AnonymousAggregatorTest, WindowsEndOneByOne) {
  AnonymousAggregator repeats({.window = absl::Minutes(1)});
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) repeats.Count(Nobodys(absl::StrCat("GET /", i)), kNow + absl::Seconds(i));
  }
  EXPECT_EQ(repeats.TakeEnded(kNow + absl::Seconds(61)).size(), 2u);
  EXPECT_EQ(repeats.next_end(), kNow + absl::Seconds(62));
}

TEST(AnonymousAggregatorTest, WhoIsSomebodyIsNeverCounted) {
  AnonymousAggregator repeats({});
  AuditEntry denied = Nobodys("GET /"), allowed = Nobodys("GET /"), lost = Nobodys("GET /");
  denied.principal = "spiffe://example.org/a";
  allowed.decision = AuditDecision::kAllow;
  lost.kind = AuditKind::kLost;
  for (const AuditEntry& entry : {denied, allowed, lost}) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(repeats.Count(entry, kNow));
  }
}

TEST(AnonymousAggregatorTest, KindsBeyondTheBoundAreOne) {
  AnonymousAggregator repeats({.kinds_max = 4});
  int written = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) written += repeats.Count(Nobodys("GET /", absl::StrCat(i)), kNow) ? 0 : 1;
  }
  EXPECT_EQ(written, 5);
  const std::vector<AuditEntry> summaries = repeats.TakeAll();
  ASSERT_EQ(summaries.size(), 5u);
  const auto others = std::ranges::find_if(summaries, [](const AuditEntry& entry) { return entry.endpoint.empty(); });
  ASSERT_NE(others, summaries.end());
  EXPECT_EQ(others->repeated, 1991u);
  EXPECT_EQ(others->reason, "other kinds, counted together");
  EXPECT_EQ(others->decision, AuditDecision::kDeny);
  EXPECT_EQ(others->policy_version, 3u);
}

}  // namespace
}  // namespace sideband::daemon
