// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/base/file.h"

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

using Lines = std::vector<std::string>;

// Entries 1 to `count` of a log, a second apart.
Lines Log(size_t count) {
  Lines lines;
  std::string prev = kAuditNoPrev;
  for (size_t i = 0; i < count; ++i) {
    lines.push_back(EncodeAuditLine({.entry = {.sequence = i + 1,
                                               .time = absl::FromUnixSeconds(1'800'000'000 + static_cast<int>(i)),
                                               .principal = "spiffe://example.org/ops",
                                               .endpoint = "GET /metrics",
                                               .decision = AuditDecision::kAllow},
                                     .prev = prev}));
    prev = AuditHash(lines.back());
  }
  return lines;
}

std::string Text(const Lines& lines) { return lines.empty() ? "" : absl::StrJoin(lines, "\n") + "\n"; }

ChainVerifier Follow(absl::string_view text, ChainVerifier::Options options = {}) {
  ChainVerifier chain(std::move(options));
  chain.BeginFile("log");
  chain.Feed(text);
  chain.EndFile();
  return chain;
}

absl::Status Verify(absl::string_view text, const std::string& head = "") { return Follow(text, {.head = head}).End(); }

TEST(ChainTest, AWholeLogIsSummedUp) {
  const Lines lines = Log(5);
  const ChainVerifier chain = Follow(Text(lines));
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().entries, 5u);
  EXPECT_EQ(chain.summary().first_sequence, 1u);
  EXPECT_EQ(chain.summary().last_sequence, 5u);
  EXPECT_EQ(chain.summary().first_time, absl::FromUnixSeconds(1'800'000'000));
  EXPECT_EQ(chain.summary().last_time, absl::FromUnixSeconds(1'800'000'004));
  EXPECT_EQ(chain.summary().head, AuditHash(lines.back()));
  EXPECT_TRUE(chain.summary().notes.empty());
}

TEST(ChainTest, TheExampleInTheReadmeIsOne) {
  std::string text;
  std::istringstream readme(*ReadFile("proto/audit/README.md"));
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("{")) text += line + "\n";
  }
  const ChainVerifier chain = Follow(text);
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().entries, 2u);
}

TEST(ChainTest, NothingIsAWholeLog) {
  EXPECT_EQ(Verify(""), absl::OkStatus());
  EXPECT_EQ(Follow("").summary().head, kAuditNoPrev);
}

TEST(ChainTest, PiecesMakeNoDifference) {
  const std::string text = Text(Log(4));
  for (size_t size = 1; size < 300; size += 7) {
    ChainVerifier chain({});
    chain.BeginFile("log");
    for (size_t at = 0; at < text.size(); at += size) chain.Feed(absl::string_view(text).substr(at, size));
    chain.EndFile();
    EXPECT_EQ(chain.End(), absl::OkStatus());
    EXPECT_EQ(chain.summary().entries, 4u);
  }
}

// Replacements for a byte: each of its bits flipped, and the characters with a meaning in a line.
std::string Changes(char byte) {
  std::string changes("\0\n\"\\ 09}\xff", 9);
  for (int bit = 0; bit < 8; ++bit) changes += static_cast<char>(byte ^ (1 << bit));
  return changes;
}

TEST(ChainTest, EveryChangedByteIsDetected) {
  const Lines lines = Log(3);
  const std::string text = Text(lines), head = AuditHash(lines.back());
  ASSERT_EQ(Verify(text, head), absl::OkStatus());
  const size_t last_line = text.size() - lines.back().size() - 1;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char value : Changes(text[at])) {
      std::string changed = text;
      changed[at] = value;
      if (changed == text) continue;
      EXPECT_FALSE(Verify(changed, head).ok()) << at << " " << static_cast<int>(value);
      // A change in the last line is detected only with a head; all others without.
      if (at >= last_line) continue;
      EXPECT_FALSE(Verify(changed).ok()) << at << " " << static_cast<int>(value);
    }
  }
}

TEST(ChainTest, EveryRemovedOrInsertedByteIsDetected) {
  const Lines lines = Log(3);
  const std::string text = Text(lines), head = AuditHash(lines.back());
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed.erase(at, 1);
    EXPECT_FALSE(Verify(changed, head).ok()) << at;
    for (const char byte : {'\n', ' ', '0', '\0'}) {
      changed = text;
      changed.insert(at, 1, byte);
      EXPECT_FALSE(Verify(changed, head).ok()) << at;
    }
  }
}

TEST(ChainTest, RemovedLinesAreDetected) {
  for (long at = 1; at < 4; ++at) {
    Lines lines = Log(5);
    lines.erase(lines.begin() + at);
    EXPECT_FALSE(Verify(Text(lines)).ok()) << at;
  }
}

TEST(ChainTest, ALogMayBeginLater) {
  Lines lines = Log(5);
  lines.erase(lines.begin());
  const ChainVerifier chain = Follow(Text(lines));
  EXPECT_EQ(chain.End(), absl::OkStatus()) << "as after a rotation";
  EXPECT_EQ(chain.summary().first_sequence, 2u);
}

TEST(ChainTest, OtherOrdersAreDetected) {
  Lines lines = Log(4);
  const Lines right = lines;
  std::ranges::sort(lines);
  do {
    EXPECT_EQ(Verify(Text(lines)).ok(), lines == right);
  } while (std::ranges::next_permutation(lines).found);
}

TEST(ChainTest, InsertedLinesAreDetected) {
  const Lines right = Log(4);
  for (size_t at = 0; at <= 4; ++at) {
    for (const std::string& line : right) {
      Lines lines = right;
      lines.insert(lines.begin() + static_cast<long>(at), line);
      EXPECT_FALSE(Verify(Text(lines)).ok()) << at;
    }
  }
}

TEST(ChainTest, ACutEndNeedsAHeadToBeSeen) {
  const Lines lines = Log(6);
  const std::string head = AuditHash(lines.back());
  for (size_t count = 0; count < 6; ++count) {
    const std::string cut = Text(Lines(lines.begin(), lines.begin() + static_cast<long>(count)));
    EXPECT_EQ(Verify(cut), absl::OkStatus());
    EXPECT_EQ(Verify(cut, head).message(),
              absl::StrCat("no entry has the head ", head,
                           ": entries after the last one were cut off, or the log was rewritten"));
  }
}

TEST(ChainTest, AHeadThatWasNotedEarlierIsFound) {
  const Lines lines = Log(6);
  const ChainVerifier chain = Follow(Text(lines), {.head = AuditHash(lines[3])});
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().anchor_at, "log:4");
  EXPECT_EQ(chain.summary().entries_after_anchor, 2u);
}

TEST(ChainTest, ARewrittenLogDoesNotHaveTheHead) {
  const std::string head = AuditHash(Log(6).back());
  Lines forged;
  std::string prev = kAuditNoPrev;
  for (const std::string& line : Log(6)) {
    AuditLine changed = *DecodeAuditLine(line);
    changed.entry.principal = "spiffe://example.org/somebody-else";
    changed.prev = prev;
    forged.push_back(EncodeAuditLine(changed));
    prev = AuditHash(forged.back());
  }
  EXPECT_EQ(Verify(Text(forged)), absl::OkStatus());
  EXPECT_FALSE(Verify(Text(forged), head).ok());
}

TEST(ChainTest, GoesOnOverFilesAndNamesTheFileAndLine) {
  const Lines lines = Log(5);
  ChainVerifier chain({});
  chain.BeginFile("log.1");
  chain.Feed(Text({lines[0], lines[1]}));
  chain.EndFile();
  chain.BeginFile("log");
  chain.Feed(Text({lines[2], lines[4]}));
  chain.EndFile();
  EXPECT_EQ(chain.End(), absl::DataLossError("log:2: sequence 5 after 3"));
  EXPECT_EQ(chain.summary().entries, 3u);
}

TEST(ChainTest, SaysWhatIsWrong) {
  const Lines lines = Log(3);
  const std::string torn = Text(lines).substr(0, Text(lines).size() - 1);
  EXPECT_EQ(Verify(torn).message(),
            "log:3: the line is unfinished: the daemon is writing it, or was killed while writing it");
  EXPECT_EQ(Verify("{}\n").message(), "log:1: 'sequence' is missing or invalid");
  EXPECT_EQ(Verify(lines[0] + "\n\n").message(), "log:2: not a JSON object");
  AuditLine changed = *DecodeAuditLine(lines[0]);
  changed.entry.reason = "because";
  EXPECT_EQ(Verify(Text({EncodeAuditLine(changed), lines[1]})).message(),
            "log:2: 'prev' is not the hash of entry 1: one of the two was changed");
  changed = *DecodeAuditLine(lines[1]);
  changed.prev = kAuditNoPrev;
  EXPECT_EQ(Verify(Text({EncodeAuditLine(changed)})).message(),
            "log:1: 'prev' must be zero in entry 1, and only there");
}

TEST(ChainTest, AnEndlessLineEndsIt) {
  ChainVerifier chain({});
  chain.BeginFile("log");
  for (int i = 0; i < 10'000; ++i) chain.Feed(std::string(1000, 'x'));
  chain.EndFile();
  EXPECT_EQ(chain.End().message(), "log:1: the line is too long");
  const std::string longest(kAuditLineBytesMax, ' ');
  EXPECT_EQ(Verify(longest + "\n").message(), "log:1: not a JSON object");
  EXPECT_EQ(Verify(longest + " \n").message(), "log:1: the line is too long");
}

TEST(ChainTest, ATimeThatGoesBackIsANote) {
  std::string text, prev = kAuditNoPrev;
  for (uint64_t i = 1; i <= 40; ++i) {
    const std::string line = EncodeAuditLine(
        {.entry = {.sequence = i, .time = absl::FromUnixSeconds(1000 - static_cast<int>(i))}, .prev = prev});
    prev = AuditHash(line);
    text += line + "\n";
  }
  const ChainVerifier chain = Follow(text);
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().notes.size(), kAuditNotesMax);
  EXPECT_EQ(chain.summary().notes.front(), "log:2: the time goes back by 1s");
  EXPECT_EQ(chain.summary().notes_left_out, 39 - kAuditNotesMax);
}

TEST(ChainTest, CountsWhatTheDaemonLost) {
  const std::string line =
      EncodeAuditLine({.entry = {.sequence = 9, .kind = AuditKind::kLost, .lost = 12}, .prev = AuditHash("something")});
  EXPECT_EQ(Follow(line + "\n").summary().lost, 12u);
}

class VerifyFilesTest : public testing::Test {
 protected:
  VerifyFilesTest() { std::filesystem::create_directories(folder_); }
  ~VerifyFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }

  // The next `count` entries of one log.
  std::string Next(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const std::string line = EncodeAuditLine({.entry = {.sequence = ++sequence_}, .prev = prev_});
      prev_ = AuditHash(line);
      text += line + "\n";
    }
    return text;
  }

  const std::string folder_ = testing::TempDir() + "verify_files/";
  uint64_t sequence_ = 0;
  std::string prev_ = kAuditNoPrev;
};

TEST_F(VerifyFilesTest, FilesMayComeInAnyOrder) {
  const std::string oldest = Write("log.2", Next(400)), older = Write("log.1", Next(3)), newest = Write("log", Next(5)),
                    empty = Write("log.0", "");
  const auto files = OrderedAuditFiles({newest, older, oldest, empty});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(*files, std::vector<std::string>({empty, oldest, older, newest}));
  ChainVerifier chain({});
  EXPECT_EQ(FeedAuditFiles(*files, chain), absl::OkStatus());
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().entries, 408u);
  EXPECT_EQ(chain.summary().head, prev_);
}

TEST_F(VerifyFilesTest, AMissingFileInTheMiddleIsABreak) {
  const std::string oldest = Write("log.2", Next(2));
  Next(2);
  const std::string newest = Write("log", Next(2));
  ChainVerifier chain({});
  EXPECT_EQ(FeedAuditFiles(*OrderedAuditFiles({newest, oldest}), chain), absl::OkStatus());
  EXPECT_EQ(chain.End().message(), newest + ":1: sequence 5 after 2");
}

TEST_F(VerifyFilesTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(OrderedAuditFiles({folder_ + "none"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OrderedAuditFiles({folder_}).status(), absl::InvalidArgumentError(folder_ + ": is a directory"));
  EXPECT_EQ(OrderedAuditFiles({"/dev/null"}).status(), absl::InvalidArgumentError("/dev/null: is not a regular file"));
  const std::string other = Write("other", "key: value\n");
  EXPECT_EQ(OrderedAuditFiles({other}).status(), absl::DataLossError(other + ":1: not a JSON object"));
}

}  // namespace
}  // namespace sideband
