// SPDX-License-Identifier: Apache-2.0
#include "client/lib/record_source.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "proto/envelope/record.h"

namespace sideband::client {
namespace {

using absl::Milliseconds;
using absl::Seconds;
using testing::ElementsAre;
using testing::IsEmpty;

envelope::GuestNonce NonceOfStream(uint8_t byte) {
  envelope::GuestNonce nonce{};
  nonce.fill(byte);
  return nonce;
}

// Has the form of a record, with neither content nor key.
Bytes Record(uint8_t nonce, uint64_t sequence) {
  const envelope::RecordHeader header{.suite = envelope::kSuiteHpke,
                                      .padded_length = envelope::kPaddingUnitHpke,
                                      .sequence = sequence,
                                      .guest_nonce = NonceOfStream(nonce)};
  Bytes record = envelope::EncodeHeader(header);
  record.resize(record.size() + header.padded_length + envelope::kTagBytes);
  return record;
}

Bytes View(const std::vector<Bytes>& records) {
  return envelope::EncodeSealedView(std::vector<ByteSpan>(records.begin(), records.end()));
}

// The stream is that of nonce 1. Time passes in waits only.
class ViewRecordsTest : public testing::Test {
 protected:
  ViewRecordsTest() { std::filesystem::create_directory(folder_); }
  ~ViewRecordsTest() override { std::filesystem::remove_all(folder_); }

  // Replaces the file as a device does.
  void Write(const Bytes& file) const {
    std::ofstream(path_ + ".new", std::ios::binary).write(reinterpret_cast<const char*>(file.data()), file.size());
    std::filesystem::rename(path_ + ".new", path_);
  }
  void WriteAt(absl::Duration time, Bytes file) {
    plan_[time] = [this, file = std::move(file)] { Write(file); };
  }
  void RemoveAt(absl::Duration time) {
    plan_[time] = [this] { std::filesystem::remove(path_); };
  }

  bool Wait(absl::Duration duration) {
    now_ += std::max(duration, wait_min_);
    while (!plan_.empty() && plan_.begin()->first <= now_) {
      plan_.begin()->second();
      plan_.erase(plan_.begin());
    }
    return now_ >= cancelled_at_;
  }

  absl::Status Read(size_t records_max = 1000) {
    ViewRecords records({.path = path_,
                         .wait = [this](absl::Duration duration) { return Wait(duration); },
                         .note = [this](const std::string& line) { notes_.push_back(line); },
                         .now = [this] { return now_; }});
    Cancellation cancellation;
    TelemetryClient client(daemon_.Channel(), {}, cancellation);
    const auto on_record = [&](ByteSpan record) {
      sequences_.push_back(envelope::ParseRecord(record)->header.sequence);
      return sequences_.size() < records_max;
    };
    return records.Read({.client = client, .subject = {.vm = "vm3"}, .nonce = NonceOfStream(1)},
                        {.on_record = on_record});
  }

  void ExpectEnded(const absl::Status& ended, absl::StatusCode code, const std::string& reason) const {
    EXPECT_EQ(ended.code(), code);
    EXPECT_EQ(ended.message(), path_ + ": " + reason);
    EXPECT_TRUE(IsRemote(ended)) << "keys can be exchanged again";
  }

  const std::string folder_ = testing::TempDir() + "/view_records." + std::to_string(::getpid());
  const std::string path_ = folder_ + "/vm3.sbs";
  FakeDaemon daemon_{{}};
  std::map<absl::Duration, std::function<void()>> plan_;
  absl::Duration now_;
  absl::Duration wait_min_;
  absl::Duration cancelled_at_ = Seconds(60);
  std::vector<uint64_t> sequences_;
  std::vector<std::string> notes_;
};

TEST_F(ViewRecordsTest, EachRecordComesOnce) {
  Write(View({Record(1, 4)}));
  WriteAt(Milliseconds(100), View({Record(1, 5)}));
  WriteAt(Milliseconds(200), View({Record(2, 0), Record(1, 5)}));
  WriteAt(Milliseconds(300), View({Record(2, 1), Record(1, 6)}));
  cancelled_at_ = Seconds(1);
  EXPECT_EQ(Read(), absl::OkStatus());
  EXPECT_THAT(sequences_, ElementsAre(4, 5, 6));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ViewRecordsTest, EndsWithTheReader) {
  Write(View({Record(1, 4)}));
  EXPECT_EQ(Read(1), absl::OkStatus());
  EXPECT_EQ(now_, absl::ZeroDuration());
}

TEST_F(ViewRecordsTest, AFileOfAnEarlierExchangeIsNoEnd) {
  Write(View({Record(9, 77), Record(8, 99)}));
  WriteAt(Seconds(1), View({Record(1, 0), Record(9, 78)}));
  EXPECT_EQ(Read(1), absl::OkStatus());
  EXPECT_THAT(sequences_, ElementsAre(0));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ViewRecordsTest, AFileThatIsMissingIsNotedOnceAndWaitedFor) {
  WriteAt(Seconds(9), View({Record(1, 0)}));
  EXPECT_EQ(Read(1), absl::OkStatus());
  EXPECT_THAT(notes_, ElementsAre(path_ + ": No such file or directory; waiting for it"));
}

TEST_F(ViewRecordsTest, AFileThatStaysMissing) {
  ExpectEnded(Read(), absl::StatusCode::kUnavailable, "No such file or directory");
  EXPECT_EQ(now_, ViewRecords::kPatience);
}

TEST_F(ViewRecordsTest, ADamagedFileIsNotedOnceAndWaitedFor) {
  const Bytes whole = View({Record(1, 5)});
  Bytes flipped = whole;
  flipped[40] ^= 1;
  Write(View({Record(1, 4)}));
  WriteAt(Seconds(1), Bytes(whole.begin(), whole.begin() + 60));
  WriteAt(Seconds(4), {});
  WriteAt(Seconds(5), flipped);
  WriteAt(Seconds(8), whole);
  EXPECT_EQ(Read(2), absl::OkStatus());
  EXPECT_THAT(sequences_, ElementsAre(4, 5));
  EXPECT_THAT(notes_, ElementsAre(path_ + ": the file is not a guest view of sealed records; waiting for it"));
}

TEST_F(ViewRecordsTest, AFileThatStaysDamaged) {
  Write(View({Record(1, 4)}));
  WriteAt(Seconds(1), {1, 2, 3});
  ExpectEnded(Read(), absl::StatusCode::kUnavailable, "the file is not a guest view of sealed records");
  EXPECT_EQ(now_, ViewRecords::kPatience);
}

TEST_F(ViewRecordsTest, RecordsOfOtherExchangesOnly) {
  Bytes no_record = Record(1, 3);
  no_record.pop_back();
  Write(View({Record(9, 77), no_record}));
  ExpectEnded(Read(), absl::StatusCode::kUnavailable, "no record of this exchange");
}

TEST_F(ViewRecordsTest, WhenTheExchangeIsOverItEndsAtOnce) {
  Write(View({Record(1, 4)}));
  WriteAt(Seconds(1), View({Record(2, 0)}));
  ExpectEnded(Read(), absl::StatusCode::kFailedPrecondition, "no record of this exchange");
  EXPECT_EQ(now_, Seconds(1));
}

TEST_F(ViewRecordsTest, WhenTheDeviceHasStoppedItEndsAtOnce) {
  Write(View({Record(1, 4)}));
  RemoveAt(Seconds(1));
  ExpectEnded(Read(), absl::StatusCode::kFailedPrecondition, "No such file or directory");
  EXPECT_EQ(now_, Seconds(1));
}

TEST_F(ViewRecordsTest, AFileThatNobodyRefreshesAnyMore) {
  Write(View({Record(1, 4)}));
  ExpectEnded(Read(), absl::StatusCode::kUnavailable, "no new record for 10s");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ViewRecordsTest, RefreshedBySecondsItGoesOn) {
  for (int second = 0; second < 50; ++second) WriteAt(Seconds(second), View({Record(1, second)}));
  cancelled_at_ = Seconds(50);
  EXPECT_EQ(Read(), absl::OkStatus());
  EXPECT_EQ(sequences_.size(), 50u);
}

TEST_F(ViewRecordsTest, WhatIsNoFileOrTooLargeIsWaitedForAsWell) {
  wait_min_ = Seconds(1);
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(absl::IsUnavailable(Read()));
  std::filesystem::remove(path_);
  Write({});
  std::filesystem::resize_file(path_, uint64_t{1} << 40);
  EXPECT_TRUE(absl::IsUnavailable(Read()));
  EXPECT_EQ(notes_.size(), 2u);
}

}  // namespace
}  // namespace sideband::client
