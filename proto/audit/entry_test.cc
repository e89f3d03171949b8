// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/entry.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband {
namespace {

AuditLine Example() {
  return {.entry = {.sequence = 7,
                    .time = absl::FromUnixMicros(1'800'000'000'123'456),
                    .kind = AuditKind::kAccess,
                    .principal = "spiffe://example.org/tenant-a",
                    .role = "tenant:a",
                    .endpoint = "GET /metrics",
                    .resource = "/metrics?x=\"1\"",
                    .decision = AuditDecision::kAllow,
                    .reason = "in the policy",
                    .policy_version = 3},
          .prev = AuditHash("the line before")};
}

TEST(AuditEntryTest, IsALineOfJsonInAFixedOrder) {
  EXPECT_EQ(EncodeAuditLine(Example()),
            R"({"sequence":7,"time":"2027-01-15T08:00:00.123456Z","kind":"access",)"
            R"("principal":"spiffe://example.org/tenant-a","role":"tenant:a","endpoint":"GET /metrics",)"
            R"("resource":"/metrics?x=\"1\"","decision":"allow","reason":"in the policy","policy_version":3,)"
            R"("prev":"39045f39d3b751ed412a081efab9551e2329831dddf2b7444ce5586de13d5886"})");
}

TEST(AuditEntryTest, RareMembersComeBeforePrev) {
  AuditLine line = Example();
  line.entry.kind = AuditKind::kLost;
  line.entry.lost = 12;
  line.entry.repeated = 3;
  line.entry.detail = {"one", "two"};
  EXPECT_NE(EncodeAuditLine(line).find(R"("policy_version":3,"lost":12,"repeated":3,"detail":["one","two"],"prev":")"),
            std::string::npos);
  EXPECT_EQ(*DecodeAuditLine(EncodeAuditLine(line)), line);
}

TEST(AuditEntryTest, TextsAreBoundedAndPlain) {
  EXPECT_EQ(AuditText("plain text, \"quoted\""), "plain text, \"quoted\"");
  EXPECT_EQ(AuditText(std::string("a\n\0\x1b\x7f\\b", 7)), "a\\x0a\\x00\\x1b\\x7f\\x5cb");
  EXPECT_EQ(AuditText("\xff\xc3\xa9"), "\\xff\\xc3\\xa9");
  EXPECT_EQ(AuditText(std::string(256, 'x')), std::string(256, 'x'));
  EXPECT_EQ(AuditText(std::string(257, 'x')), std::string(253, 'x') + "...");
  // The cut is between two bytes of the original text.
  EXPECT_EQ(AuditText(std::string(252, 'x') + "\n\n"), std::string(252, 'x') + "...");
  EXPECT_EQ(AuditText(std::string(1 << 20, '\n')).size(), 4 * 63 + 3u);
}

TEST(AuditEntryTest, TheLongestEntryIsALine) {
  AuditLine line = Example();
  const std::string quotes(1000, '"');
  line.entry.principal = line.entry.role = line.entry.endpoint = line.entry.resource = line.entry.reason = quotes;
  line.entry.detail.assign(1000, quotes);
  const std::string text = EncodeAuditLine(line);
  EXPECT_LE(text.size(), kAuditLineBytesMax);
  EXPECT_EQ(DecodeAuditLine(text)->entry.detail.size(), kAuditDetailMax);
}

TEST(AuditEntryTest, TimesBeyondACalendarAreItsEnds) {
  EXPECT_EQ(AuditTimeText(absl::InfinitePast()), "0000-01-01T00:00:00.000000Z");
  EXPECT_EQ(AuditTimeText(absl::InfiniteFuture()), "9999-12-31T23:59:59.000000Z");
}

RC_GTEST_PROP(AuditEntryProperty, WhatIsReadIsWhatWasWritten, ()) {
  const auto text = rc::gen::arbitrary<std::string>();
  AuditLine line{.entry = {.sequence = *rc::gen::inRange<uint64_t>(1, UINT64_MAX),
                           .time = absl::FromUnixMicros(*rc::gen::inRange<int64_t>(0, 4'000'000'000'000'000)),
                           .kind = static_cast<AuditKind>(*rc::gen::inRange(0, 6)),
                           .principal = *text,
                           .role = *text,
                           .endpoint = *text,
                           .resource = *text,
                           .decision = static_cast<AuditDecision>(*rc::gen::inRange(0, 3)),
                           .reason = *text,
                           .policy_version = *rc::gen::arbitrary<uint64_t>(),
                           .lost = *rc::gen::arbitrary<uint64_t>(),
                           .repeated = *rc::gen::arbitrary<uint64_t>(),
                           .detail = *rc::gen::container<std::vector<std::string>>(text)},
                 .prev = AuditHash(*text)};
  const auto read = DecodeAuditLine(EncodeAuditLine(line));
  RC_ASSERT(read.ok());
  AuditEntry& entry = line.entry;
  for (std::string* one : {&entry.principal, &entry.role, &entry.endpoint, &entry.resource, &entry.reason}) {
    *one = AuditText(*one);
  }
  if (entry.detail.size() > kAuditDetailMax) entry.detail.resize(kAuditDetailMax);
  for (std::string& one : entry.detail) one = AuditText(one);
  RC_ASSERT(*read == line);
}

TEST(AuditEntryTest, RefusesWhatTheDaemonWouldNotWrite) {
  const std::string good = EncodeAuditLine(Example());
  ASSERT_TRUE(DecodeAuditLine(good).ok());
  struct Row {
    const char *from, *to, *error;
  };
  for (const Row& row : {
           Row{"\"sequence\":7", "\"sequence\": 7", "not in canonical form"},
           Row{"\"sequence\":7,", "", "'sequence' is missing or invalid"},
           Row{"\"sequence\":7", "\"sequence\":7.0", "'sequence' is missing or invalid"},
           Row{"\"sequence\":7", "\"sequence\":-7", "'sequence' is missing or invalid"},
           Row{"\"sequence\":7", "\"sequence\":0", "'sequence' begins at 1"},
           Row{"\"sequence\":7", "\"sequence\":07", "not a JSON object"},
           Row{"\"sequence\":7", "\"sequence\":7,\"sequence\":7", "not in canonical form"},
           Row{"\"sequence\":7", "\"extra\":1,\"sequence\":7", "not in canonical form"},
           Row{"2027-01-15T08:00:00.123456Z", "2027-01-15T08:00:00.1234560Z", "'time' is missing or invalid"},
           Row{"2027-01-15T08:00:00.123456Z", "2027-01-15t08:00:00.123456Z", "not in canonical form"},
           Row{"2027-01-15T08:00:00.123456Z", "2027-13-15T08:00:00.123456Z", "'time' is missing or invalid"},
           Row{"2027-01-15T08:00:00.123456Z", "infinite-future", "'time' is missing or invalid"},
           Row{"\"access\"", "\"acces\"", "'kind' is missing or invalid"},
           Row{"\"allow\"", "true", "'decision' is missing or invalid"},
           Row{"\"allow\"", "\"yes\"", "'decision' is missing or invalid"},
           Row{"GET /", "GET\\n/", "a text is too long or not printable"},
           Row{"GET /", "\\u0047ET /", "not in canonical form"},
           Row{"\"prev\"", "\"detail\":[],\"prev\"", "not in canonical form"},
           Row{"\"prev\"", "\"detail\":[1],\"prev\"", "'detail' is missing or invalid"},
           Row{"\"prev\"", "\"detail\":{},\"prev\"", "'detail' is missing or invalid"},
           Row{"\"prev\"", "\"lost\":0,\"prev\"", "not in canonical form"},
           Row{"\"prev\"", "\"repeated\":0,\"prev\"", "not in canonical form"},
           Row{"\"prev\"", "\"repeated\":-1,\"prev\"", "'repeated' is missing or invalid"},
           Row{"\"prev\":\"", "\"prev\":\"0", "'prev' is not a hash"},
           Row{"}", "}}", "not a JSON object"},
           Row{"}", "} ", "not in canonical form"},
       }) {
    const std::string bad = absl::StrReplaceAll(good, {{row.from, row.to}});
    ASSERT_NE(bad, good) << row.from;
    EXPECT_EQ(DecodeAuditLine(bad).status(), absl::InvalidArgumentError(row.error)) << bad;
  }
  for (const std::string& bad : {std::string(), std::string("[]"), std::string("7"), std::string("{}"),
                                 std::string(kAuditLineBytesMax, '['), std::string(kAuditLineBytesMax + 1, ' ')}) {
    EXPECT_EQ(DecodeAuditLine(bad).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(AuditEntryTest, HashIsSha256) {
  EXPECT_EQ(AuditHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4
  EXPECT_TRUE(IsAuditHash(kAuditNoPrev));
  EXPECT_FALSE(IsAuditHash(absl::StrCat(kAuditNoPrev, "0")));
  EXPECT_FALSE(IsAuditHash(std::string(64, 'A')));
}

}  // namespace
}  // namespace sideband
