// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_files.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/audit/chain.h"
#include "proto/base/steady_time.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

// An audit storage in memory that can fail or block the writer. Thread-safe.
class FakeAuditStorage final : public AuditStorage {
 public:
  absl::Status Append(absl::string_view lines) override {
    absl::MutexLock lock(&mu_);
    ++attempts_;
    if (!changed_.AwaitFor(mu_, absl::Condition(&open_), kWaitUntilMax)) {
      EndInVain("the test to open the audit storage", kWaitUntilMax);
    }
    if (append_.code == absl::StatusCode::kOk) text_.append(lines.data(), lines.size());
    return append_.Make();
  }
  absl::Status Sync() override {
    absl::MutexLock lock(&mu_);
    ++syncs_;
    return sync_.Make();
  }

  void SetAppend(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    append_ = Outcome::Of(status);
  }
  void SetSync(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    sync_ = Outcome::Of(status);
  }
  // While closed, Append() waits.
  void SetOpen(bool open) {
    absl::MutexLock lock(&mu_);
    open_ = open;
    changed_.NotifyAll();
  }
  // Waits until Append() was called `attempts` times.
  void AwaitAttempts(int attempts) {
    WaitUntil([&] { return this->attempts() >= attempts; },
              absl::StrCat(attempts, " attempts to append to the audit log"));
  }
  int attempts() const {
    absl::MutexLock lock(&mu_);
    return attempts_;
  }
  int syncs() const {
    absl::MutexLock lock(&mu_);
    return syncs_;
  }
  // The stored entries; empty where the chain is broken.
  std::vector<AuditEntry> Entries() const {
    absl::MutexLock lock(&mu_);
    std::vector<AuditEntry> entries;
    ChainVerifier chain({.on_line = [&](const AuditLine& line) { entries.push_back(line.entry); }});
    chain.BeginFile("log");
    chain.Feed(text_);
    chain.EndFile();
    return chain.End().ok() ? entries : std::vector<AuditEntry>();
  }

 private:
  // A status that threads may share. The reference counts of absl::Status are changed inside the library, which the
  // thread sanitizer does not see.
  struct Outcome {
    static Outcome Of(const absl::Status& status) { return {status.code(), std::string(status.message())}; }
    absl::Status Make() const { return absl::Status(code, message); }

    absl::StatusCode code = absl::StatusCode::kOk;
    std::string message;
  };

  mutable absl::Mutex mu_;
  SteadyCondVar changed_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  Outcome append_ ABSL_GUARDED_BY(mu_);
  Outcome sync_ ABSL_GUARDED_BY(mu_);
  bool open_ ABSL_GUARDED_BY(mu_) = true;
  int attempts_ ABSL_GUARDED_BY(mu_) = 0;
  int syncs_ ABSL_GUARDED_BY(mu_) = 0;
};

using testing::HasSubstr;

class AuditWriterTest : public testing::Test {
 protected:
  static std::vector<AuditEntry> Some(size_t count) { return std::vector<AuditEntry>(count); }

  FakeAuditStorage storage_;
  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  AuditWriter writer_{{}, storage_, clock_, *metrics_, {}};
};

TEST_F(AuditWriterTest, NumbersEntriesAndChainsThem) {
  EXPECT_EQ(writer_.Write(Some(2)), absl::OkStatus());
  EXPECT_EQ(writer_.Write(Some(1000)), absl::OkStatus());
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 1002u);
  EXPECT_EQ(entries.front().sequence, 1u);
  EXPECT_EQ(entries.back().sequence, 1002u);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_audit_entries_total 1002\n"));
}

TEST_F(AuditWriterTest, GoesOnWhereTheChainEnded) {
  AuditWriter writer({.sequence = 41, .head = AuditHash("x")}, storage_, clock_, *metrics_, {});
  EXPECT_EQ(writer.Write(Some(1)), absl::OkStatus());
  EXPECT_EQ(storage_.Entries().at(0).sequence, 42u);
}

TEST_F(AuditWriterTest, TellsWhatWasLostAsSoonAsItCan) {
  EXPECT_EQ(writer_.Write(Some(1)), absl::OkStatus());
  storage_.SetAppend(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(writer_.Write(Some(3)), absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(writer_.Write(Some(2)), absl::ResourceExhaustedError("disk full"));
  EXPECT_TRUE(writer_.has_unfinished());
  storage_.SetAppend(absl::OkStatus());
  EXPECT_EQ(writer_.Write(Some(1)), absl::OkStatus());
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].kind, AuditKind::kLost);
  EXPECT_EQ(entries[1].lost, 5u);
  EXPECT_EQ(entries[1].time, clock_.Now());
  EXPECT_EQ(entries[2].sequence, 3u) << "what was lost has no numbers";
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_audit_lost_total 5\n"));
}

TEST_F(AuditWriterTest, TellsWhatWasLostWithoutAnotherEntry) {
  writer_.Lose(7);
  EXPECT_EQ(writer_.Write({}), absl::OkStatus());
  EXPECT_EQ(storage_.Entries().at(0).lost, 7u);
  EXPECT_EQ(writer_.Write({}), absl::OkStatus());
  EXPECT_EQ(storage_.Entries().size(), 1u) << "once";
}

TEST_F(AuditWriterTest, ALostEntryThatIsLostItselfStillCounts) {
  storage_.SetAppend(absl::UnavailableError("no"));
  EXPECT_FALSE(writer_.Write(Some(1)).ok());
  EXPECT_FALSE(writer_.Write({}).ok());
  EXPECT_FALSE(writer_.Write({}).ok());
  storage_.SetAppend(absl::OkStatus());
  EXPECT_EQ(writer_.Write({}), absl::OkStatus());
  EXPECT_EQ(storage_.Entries().at(0).lost, 1u);
}

TEST_F(AuditWriterTest, SyncsOnceAnInterval) {
  EXPECT_EQ(writer_.SyncIfDue(), absl::OkStatus());
  EXPECT_EQ(storage_.syncs(), 0) << "there is nothing";
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(writer_.Write(Some(1)), absl::OkStatus());
    EXPECT_EQ(writer_.SyncIfDue(), absl::OkStatus());
    clock_.Advance(absl::Milliseconds(100));
  }
  EXPECT_EQ(storage_.syncs(), 2);
  EXPECT_TRUE(writer_.has_unfinished());
  EXPECT_EQ(writer_.SyncIfDue(), absl::OkStatus());
  EXPECT_FALSE(writer_.has_unfinished());
}

TEST_F(AuditWriterTest, ASyncThatFailedIsTriedAgain) {
  storage_.SetSync(absl::UnavailableError("I/O error"));
  EXPECT_EQ(writer_.Write(Some(1)), absl::OkStatus());
  EXPECT_EQ(writer_.SyncIfDue(), absl::UnavailableError("I/O error"));
  EXPECT_EQ(writer_.SyncIfDue(), absl::UnavailableError("I/O error"));
  EXPECT_EQ(storage_.syncs(), 1);
  clock_.Advance(absl::Seconds(1));
  storage_.SetSync(absl::OkStatus());
  EXPECT_EQ(writer_.SyncIfDue(), absl::OkStatus());
  EXPECT_FALSE(writer_.has_unfinished());
}

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

using testing::HasSubstr;

class AuditLogTest : public testing::Test {
 protected:
  void Start() {
    auto log = AuditLog::Start(options_, {}, storage_, clock_, *metrics_);
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }

  FakeAuditStorage storage_;
  FakeClock clock_{absl::FromUnixSeconds(1'800'000'000)};
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  AuditLog::Options options_{.greeting = "sidebandd 1", .interval = absl::Milliseconds(1)};
  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditLogTest, BeginsAndEnds) {
  Start();
  clock_.Advance(absl::Seconds(1));
  log_->Record({.principal = "somebody"});
  log_->Stop();
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].kind, AuditKind::kStart);
  EXPECT_EQ(entries[0].reason, "sidebandd 1");
  EXPECT_EQ(entries[1].principal, "somebody");
  EXPECT_EQ(entries[1].time, absl::FromUnixSeconds(1'800'000'001));
  EXPECT_EQ(entries[2].kind, AuditKind::kStop);
  EXPECT_GE(storage_.syncs(), 2) << "at the start and at the end";
}

TEST_F(AuditLogTest, AStartThatCannotBeWrittenIsAnError) {
  storage_.SetAppend(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(AuditLog::Start(options_, {}, storage_, clock_, *metrics_).status(),
            absl::ResourceExhaustedError("disk full"));
}

TEST_F(AuditLogTest, TheStartTellsOfARepair) {
  const auto log = AuditLog::Start(options_, {.sequence = 3, .head = AuditHash("x"), .bytes_cut_off = 17}, storage_,
                                   clock_, *metrics_);
  EXPECT_EQ(storage_.Entries().at(0).reason, "sidebandd 1; 17 bytes of an unfinished line at the end were cut off");
}

TEST_F(AuditLogTest, TheStartTellsOfOneByteInTheSingular) {
  const auto log = AuditLog::Start(options_, {.sequence = 3, .head = AuditHash("x"), .bytes_cut_off = 1}, storage_,
                                   clock_, *metrics_);
  EXPECT_EQ(storage_.Entries().at(0).reason, "sidebandd 1; 1 byte of an unfinished line at the end was cut off");
}

TEST_F(AuditLogTest, NeverWaitsAndTellsWhatItDropped) {
  Start();
  storage_.SetOpen(false);
  log_->Record({.principal = "first"});
  storage_.AwaitAttempts(2);  // the writer is blocked in it; the first attempt was the start
  for (int i = 0; i < 100'000; ++i) log_->Record({.principal = std::string(1000, 'x')});
  storage_.SetOpen(true);
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_GT(entries.size(), 1000u);
  EXPECT_LT(entries.size(), 30'000u) << "4 MiB of them";
  const AuditEntry& lost = entries[entries.size() - 2];
  EXPECT_EQ(lost.kind, AuditKind::kLost);
  EXPECT_EQ(lost.lost + entries.size() - 4, 100'000u);
  EXPECT_EQ(entries.back().kind, AuditKind::kStop);
}

TEST_F(AuditLogTest, TriesAgainByItself) {
  std::vector<std::string> changes;
  options_.on_change = [&](const absl::Status& status) { changes.push_back(std::string(status.message())); };
  Start();
  storage_.SetAppend(absl::ResourceExhaustedError("disk full"));
  log_->Record({});
  storage_.AwaitAttempts(10);
  storage_.SetAppend(absl::OkStatus());
  storage_.AwaitAttempts(storage_.attempts() + 1);
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].kind, AuditKind::kLost);
  EXPECT_EQ(entries[1].lost, 1u);
  EXPECT_EQ(changes, std::vector<std::string>({"disk full", ""}));
}

constexpr AuditDecision kDeny = AuditDecision::kDeny;

TEST_F(AuditLogTest, AFloodOfNobodysIsTwoLines) {
  Start();
  log_->Record({.principal = "somebody", .decision = kDeny});
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(log_->Record({.endpoint = "GET /", .decision = kDeny, .reason = "r"}));
  log_->Record({.principal = "somebody", .decision = kDeny});
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[2].endpoint, "GET /");
  EXPECT_EQ(entries[2].repeated, 0u);
  EXPECT_EQ(entries[3].principal, "somebody");
  EXPECT_EQ(entries[4].endpoint, "GET /");
  EXPECT_EQ(entries[4].repeated, 99'999u);
  EXPECT_EQ(entries[5].kind, AuditKind::kStop);
}

TEST_F(AuditLogTest, RepeatsAreToldBeforeWhatFollowsTheirWindow) {
  Start();
  for (int i = 0; i < 3; ++i) log_->Record({.endpoint = "GET /", .decision = kDeny});
  clock_.Advance(absl::Minutes(1));
  log_->Record({.endpoint = "GET /", .decision = kDeny});
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[2].repeated, 2u);
  EXPECT_EQ(entries[2].time, clock_.Now());
  EXPECT_EQ(entries[3].repeated, 0u);
}

TEST_F(AuditLogTest, RepeatsAreToldAtTheirWindowsEndByItself) {
  options_.repeats.window = absl::Milliseconds(1);
  Start();
  storage_.AwaitAttempts(1);
  log_->Record({.endpoint = "GET /", .decision = kDeny});
  log_->Record({.endpoint = "GET /", .decision = kDeny});
  storage_.AwaitAttempts(2);
  clock_.Advance(absl::Milliseconds(1));
  storage_.AwaitAttempts(3);
  EXPECT_EQ(storage_.Entries().at(2).repeated, 1u);
}

TEST_F(AuditLogTest, WhatWasRepeatedAndIsLostCounts) {
  Start();
  for (int i = 0; i < 4; ++i) log_->Record({.endpoint = "GET /", .decision = kDeny});
  storage_.AwaitAttempts(2);
  storage_.SetAppend(absl::ResourceExhaustedError("disk full"));
  log_->Stop();
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_audit_lost_total 3\n"));
}

TEST_F(AuditLogTest, SaysWhetherThereWasRoom) {
  options_.queue_bytes_max = 10'000;
  Start();
  storage_.SetOpen(false);
  EXPECT_TRUE(log_->Record({.principal = "first"}));
  storage_.AwaitAttempts(2);
  EXPECT_TRUE(log_->Record({.principal = "second"}));
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += log_->Record({.principal = "somebody"}) ? 1 : 0;
  EXPECT_LT(taken, 100);
  storage_.SetOpen(true);
  log_->Stop();
  EXPECT_EQ(storage_.Entries().size(), static_cast<size_t>(taken) + 5u) << "start, first, second, lost, stop";
}

TEST_F(AuditLogTest, WhatComesAfterTheEndIsCounted) {
  Start();
  log_->Stop();
  EXPECT_FALSE(log_->Record({}));
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_audit_lost_total 1\n"));
}

TEST_F(AuditLogTest, ManyThreadsOneChain) {
  options_.queue_bytes_max = 1 << 30;
  Start();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([this, thread] {
        for (int i = 0; i < 500; ++i) log_->Record({.principal = absl::StrCat(thread), .reason = absl::StrCat(i)});
      });
    }
  }
  log_->Stop();
  const std::vector<AuditEntry> entries = storage_.Entries();
  ASSERT_EQ(entries.size(), 4002u);
  std::map<std::string, int> next;  // of each thread
  for (size_t i = 1; i + 1 < entries.size(); ++i) {
    EXPECT_EQ(entries[i].reason, absl::StrCat(next[entries[i].principal]++));
  }
}

// Over real files: restarts, rotations and a kill leave one chain.
TEST_F(AuditLogTest, OneChainOverRestarts) {
  const std::string folder = testing::TempDir() + "audit_log/", path = folder + "audit.jsonl";
  std::filesystem::create_directories(folder);
  for (int run = 0; run < 4; ++run) {
    const auto files = AuditFiles::Open({.path = path, .max_bytes = 100'000});
    ASSERT_TRUE(files.ok()) << files.status();
    const auto log = AuditLog::Start(options_, (*files)->end(), **files, clock_, *metrics_);
    ASSERT_TRUE(log.ok()) << log.status();
    for (int i = 0; i < 500; ++i) (*log)->Record({.principal = absl::StrCat("run ", run)});
    (*log)->Stop();
    std::ofstream(path, std::ios::app) << "{\"sequence\":1";  // as a kill leaves the file
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 13);
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) paths.push_back(file.path());
  EXPECT_GT(paths.size(), 3u);
  ChainVerifier chain({});
  EXPECT_EQ(FeedAuditFiles(*OrderedAuditFiles(paths), chain), absl::OkStatus());
  EXPECT_EQ(chain.End(), absl::OkStatus());
  EXPECT_EQ(chain.summary().entries, 4 * 502u);
  EXPECT_EQ(chain.summary().first_sequence, 1u);
}

}  // namespace

}  // namespace sideband::daemon
