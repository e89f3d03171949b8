// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/audit/fake_audit_storage.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {
namespace {

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

}  // namespace
}  // namespace sideband::daemon
