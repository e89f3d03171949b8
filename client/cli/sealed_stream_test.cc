// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sealed_stream.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "client/cli/console.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/record_source.h"
#include "client/lib/rpc_status.h"
#include "proto/envelope/keys.h"

namespace sideband::client {
namespace {

using Reopening = SealedStream::Reopening;

constexpr envelope::GuestNonce kNonce = [] {
  envelope::GuestNonce nonce{};
  nonce.fill('N');
  return nonce;
}();

v1::SealedRecord Record(uint64_t sequence) {
  const envelope::RecordHeader header{
      .device = {{1}}, .boot_id = 1, .vm = {{2}}, .epoch = 3, .sequence = sequence, .guest_nonce = kNonce};
  v1::SealedContent content;
  content.mutable_snapshot()->set_snapshot_id(static_cast<uint32_t>(sequence));
  const auto keys =
      envelope::SessionKeys::Derive(envelope::Secret::Take(Bytes(32, 0x44)), envelope::KeyScope::Of(header));
  const Bytes bytes = *envelope::SealRecord(*keys, header, AsBytes(content.SerializeAsString()));
  v1::SealedRecord record;
  record.set_record(std::string(bytes.begin(), bytes.end()));
  return record;
}

// Has the same records in each stream, after which the exchange has ended.
class EndingRecords final : public RecordSource {
 public:
  explicit EndingRecords(std::vector<v1::SealedRecord> records) : records_(std::move(records)) {}

  absl::Status Read(const Stream& stream, const Callbacks& callbacks) override {
    EXPECT_EQ(stream.subject.vm, "vm3");
    EXPECT_EQ(stream.nonce, kNonce);
    for (const v1::SealedRecord& record : records_) {
      if (!callbacks.on_record(AsBytes(record.record()))) return absl::OkStatus();
    }
    return MarkRemote(absl::FailedPreconditionError("no more"));
  }

 private:
  const std::vector<v1::SealedRecord> records_;
};

class SealedStreamTest : public testing::Test {
 protected:
  ~SealedStreamTest() override { std::filesystem::remove_all(folder_); }

  void Serve(FakeDaemon::Script script) { daemon_ = std::make_unique<FakeDaemon>(std::move(script)); }

  // Follows until so many records were opened, or so many waits for another stream.
  absl::Status Follow(Reopening reopening, size_t records_max, size_t waits_max = 4,
                      std::unique_ptr<RecordSource> source = std::make_unique<DaemonRecords>()) {
    snapshots_.clear();
    begins_.clear();
    ends_.clear();
    waits_.clear();
    Environment environment{.out = out_,
                            .err = err_,
                            .cancellation = cancellation_,
                            .get_env = [](const std::string&) { return std::optional<std::string>(); },
                            .connect = [this](const ClientConfig&) { return daemon_->Channel(); },
                            .wait =
                                [&](absl::Duration delay) {
                                  waits_.push_back(delay);
                                  return waits_.size() == waits_max;
                                },
                            .draw_nonce = [] { return kNonce; }};
    CommandContext context(environment, "", {});
    SealedStream stream(envelope::Secret::Take(Bytes(32, 0x44)),
                        {.subject = {.vm = "vm3"},
                         .state = folder_ + "/state.json",
                         .reopening = reopening,
                         .records = std::move(source)},
                        context);
    return stream.Follow({.on_record =
                              [&](const OpenedRecord& record) {
                                snapshots_.push_back(record.content.snapshot().snapshot_id());
                                begins_.push_back(record.begins_stream);
                                return snapshots_.size() < records_max;
                              },
                          .on_end = [&](const absl::Status& ended) { ends_.push_back(ended.code()); }});
  }

  const std::string folder_ = [] {
    const std::string folder = testing::TempDir() + "/sealed_stream." + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    return folder;
  }();
  std::unique_ptr<FakeDaemon> daemon_;
  StringOutput out_, err_;
  Cancellation cancellation_;
  std::vector<uint32_t> snapshots_;
  std::vector<bool> begins_;
  std::vector<absl::StatusCode> ends_;
  std::vector<absl::Duration> waits_;
};

TEST_F(SealedStreamTest, OneStream) {
  Serve({.records = {Record(0), Record(1), Record(2)}, .keeps_streams = true});
  EXPECT_EQ(Follow(Reopening::kNever, 2), absl::OkStatus());
  EXPECT_EQ(snapshots_, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(begins_, (std::vector<bool>{true, false}));
  EXPECT_EQ(ends_, std::vector{absl::StatusCode::kOk});
}

TEST_F(SealedStreamTest, AStreamThatEndsIsOpenedAgain) {
  Serve({.records = {Record(0), Record(1)}});
  EXPECT_EQ(Follow(Reopening::kNever, 5).message(), "the server ended the stream");
  EXPECT_EQ(snapshots_.size(), 2u);
  EXPECT_EQ(Follow(Reopening::kOnceOpen, 5), absl::OkStatus());
  EXPECT_EQ(begins_, (std::vector<bool>{true, false, true, false, true}));
  EXPECT_EQ(waits_, (std::vector{absl::Milliseconds(500), absl::Seconds(1)})) << "no stream has lasted";
}

TEST_F(SealedStreamTest, ADaemonThatIsNotThereYet) {
  Serve({.status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no key")});
  EXPECT_FALSE(Follow(Reopening::kOnceOpen, 1).ok());
  EXPECT_TRUE(waits_.empty()) << "nothing was received yet";
  EXPECT_FALSE(Follow(Reopening::kAlways, 1, 6).ok());
  EXPECT_EQ(waits_, (std::vector{absl::Milliseconds(500), absl::Seconds(1), absl::Seconds(2), absl::Seconds(4),
                                 absl::Seconds(8), absl::Seconds(10)}));
}

TEST_F(SealedStreamTest, ARejectedRecord) {
  Serve({.records = {Record(1), Record(1)}, .keeps_streams = true});
  const absl::Status rejected = absl::DataLossError("record rejected");
  EXPECT_EQ(Follow(Reopening::kNever, 9), rejected);
  EXPECT_EQ(Follow(Reopening::kOnceOpen, 9), rejected);
  EXPECT_EQ(snapshots_.size(), 1u);
  EXPECT_EQ(Follow(Reopening::kAlways, 2), absl::OkStatus());
  EXPECT_EQ(ends_, (std::vector{absl::StatusCode::kDataLoss, absl::StatusCode::kOk}));
}

TEST_F(SealedStreamTest, RecordsOfAnotherSource) {
  Serve({.records = {Record(9)}});
  const std::vector<v1::SealedRecord> records = {Record(0), Record(1)};
  EXPECT_EQ(Follow(Reopening::kNever, 5, 4, std::make_unique<EndingRecords>(records)).message(), "no more");
  EXPECT_EQ(snapshots_, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(Follow(Reopening::kOnceOpen, 3, 4, std::make_unique<EndingRecords>(records)), absl::OkStatus());
  EXPECT_EQ(begins_, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(daemon_->requests().subscribe_sealed, "");
}

TEST_F(SealedStreamTest, AtTheCancellationItEnds) {
  Serve({.records = {Record(0)}, .keeps_streams = true});
  cancellation_.Cancel();
  EXPECT_EQ(Follow(Reopening::kAlways, 9), absl::OkStatus());
}

}  // namespace
}  // namespace sideband::client
