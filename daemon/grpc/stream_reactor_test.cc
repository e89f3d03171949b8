// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/stream_reactor.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/view/fake_world.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using Verdict = WriteWatch::Verdict;
using sideband::v1::Confidential;
using sideband::v1::SubscribeRequest;
using sideband::v1::SubscribeResponse;
using testing::HasSubstr;

class WriteWatchTest : public testing::Test {
 protected:
  FakeClock clock_{absl::UnixEpoch()};
  WriteWatch watch_{&clock_, absl::Seconds(20)};
};

TEST_F(WriteWatchTest, AStreamIsFinishedOnceThenCancelledOnce) {
  watch_.Begin();
  clock_.Advance(absl::Seconds(20) - absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kFinish);
  EXPECT_TRUE(watch_.is_finished());
  clock_.Advance(absl::Seconds(19));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kCancel);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
}

TEST_F(WriteWatchTest, EachWriteHasItsOwnTime) {
  for (int i = 0; i < 5; ++i) {
    watch_.Begin();
    clock_.Advance(absl::Seconds(15));
    EXPECT_EQ(watch_.Check(), Verdict::kGood);
    watch_.End();
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood) << "nothing is being written";
}

TEST_F(WriteWatchTest, WithoutHeartbeatsPatienceIsEndless) {
  WriteWatch endless(&clock_, absl::InfiniteDuration()), without_clock(nullptr, absl::Seconds(1));
  endless.Begin();
  without_clock.Begin();
  clock_.Advance(absl::Hours(10'000));
  EXPECT_EQ(endless.Check(), Verdict::kGood);
  EXPECT_EQ(without_clock.Check(), Verdict::kGood);
}

// Always has a message of 100 bytes.
struct EagerSource {
  using Message = sideband::v1::SealedRecord;

  StreamStep<Message> Next() {
    ++*asked;
    Message message;
    message.set_record(std::string(100, 'x'));
    return message;
  }
  StreamStep<Message> Wait() const {
    if (*is_somebody) return StreamWait{};
    return StreamEnd{absl::UnauthenticatedError("nobody")};
  }

  int* asked;
  const bool* is_somebody;
};

class StreamReactorTest : public testing::Test {
 protected:
  std::shared_ptr<StreamReactor<EagerSource>> Open(int& asked) {
    return std::make_shared<StreamReactor<EagerSource>>(EagerSource{&asked, &is_somebody_}, registry_,
                                                        *under_way_.Begin("a"), nullptr, [](const absl::Status&) {});
  }

  FakeWorld world_;
  bool is_somebody_ = true;
  StreamRegistry registry_{world_.reader, /*per_identity_max=*/8};
  CallsUnderWay under_way_{{.bytes_max = 150}};
};

TEST_F(StreamReactorTest, WhoTakesWhatComesGetsTheNext) {
  int asked = 0;
  const auto stream = Open(asked);
  stream->Wake();
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(asked, i);
    stream->OnWriteDone(true);
  }
}

TEST_F(StreamReactorTest, WhoIsNobodyAnyMoreWaitsNoLonger) {
  int asked[] = {0, 0, 0};
  absl::Status ended = absl::OkStatus();
  const auto first = Open(asked[0]), second = Open(asked[1]);
  const auto third = std::make_shared<StreamReactor<EagerSource>>(EagerSource{&asked[2], &is_somebody_}, registry_,
                                                                  *under_way_.Begin("a"), nullptr,
                                                                  [&](const absl::Status& status) { ended = status; });
  for (const auto& stream : {first, second, third}) stream->Wake();
  is_somebody_ = false;
  third->Wake();
  third->OnDone();
  EXPECT_EQ(ended, absl::UnauthenticatedError("nobody"));
}

TEST_F(StreamReactorTest, WhoTakesNothingForTooLongIsFinishedThenCancelled) {
  int asked = 0, cancelled = 0;
  absl::Status ended = absl::OkStatus();
  const auto stream = std::make_shared<StreamReactor<EagerSource>>(
      EagerSource{&asked, &is_somebody_}, registry_, *under_way_.Begin("a"), nullptr,
      [&](const absl::Status& status) { ended = status; },
      StreamReactor<EagerSource>::ReaderDeadline{
          .clock = &world_.clock, .patience = absl::Seconds(20), .cancel = [&] { ++cancelled; }});
  stream->Wake();
  world_.clock.Advance(absl::Seconds(19));
  stream->OnWriteDone(true);
  EXPECT_EQ(asked, 2) << "it has taken one in time";
  world_.clock.Advance(absl::Seconds(20));
  stream->Wake();
  EXPECT_EQ(cancelled, 0);
  world_.clock.Advance(absl::Seconds(20));
  stream->Wake();
  stream->Wake();
  EXPECT_EQ(cancelled, 1);
  stream->OnWriteDone(false);
  stream->Wake();
  EXPECT_EQ(asked, 2) << "nothing is made for it any more";
  stream->OnDone();
  EXPECT_EQ(ended, ReaderTooSlowError());
  world_.clock.Advance(absl::Hours(1));
  stream->Wake();
  EXPECT_EQ(cancelled, 1);
}

TEST_F(StreamReactorTest, WhoDoesNotReadGetsNoMoreOnAnyStream) {
  int asked[] = {0, 0, 0};
  const auto first = Open(asked[0]), second = Open(asked[1]), third = Open(asked[2]);
  first->Wake();
  second->Wake();
  third->Wake();
  EXPECT_EQ(asked[0], 1);
  EXPECT_EQ(asked[1], 1) << "the one that fills it";
  EXPECT_EQ(asked[2], 0);
  EXPECT_FALSE(under_way_.Begin("a").ok());
  EXPECT_TRUE(under_way_.Begin("b").ok());
  third->Wake();
  EXPECT_EQ(asked[2], 0);
  first->Stop();
  first->OnWriteDone(false);
  third->Wake();
  EXPECT_EQ(asked[2], 1) << "there is room again";
}

// Streams over real connections.
class GrpcStreamTest : public GrpcServerFixture {};

TEST_F(GrpcStreamTest, OnceEnds) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_ONCE);
  const auto reader = stub->Subscribe(&context, request);
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.update().snapshot_id(), 1u);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_TRUE(response.sync_response());
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(GrpcStreamTest, StreamFollowsPublications) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  ASSERT_TRUE(reader->Read(&response));
  for (uint64_t p = 2; p < 20; ++p) {
    world_.Publish(0, p);
    ASSERT_TRUE(reader->Read(&response));
    EXPECT_EQ(response.update().snapshot_id(), p);
    EXPECT_EQ(response.skipped(), 0u);
  }
  context.TryCancel();
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
}

TEST_F(GrpcStreamTest, ReadersOfAViewShareItsSerialisation) {
  Start();
  constexpr size_t kStreams = 5;
  const auto stub = As("tenant-a");
  std::array<grpc::ClientContext, kStreams> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<SubscribeResponse>>> readers;
  SubscribeResponse response;
  for (grpc::ClientContext& context : contexts) {
    readers.push_back(stub->Subscribe(&context, EndlessRequest()));
    for (int message = 0; message < 2; ++message) ASSERT_TRUE(readers.back()->Read(&response));
  }
  ExpectMetric(*metrics_, "sideband_grpc_snapshot_serialisations_total 1");
  world_.Publish(0, 2);
  for (const auto& reader : readers) {
    ASSERT_TRUE(reader->Read(&response));
    EXPECT_EQ(response.update().snapshot_id(), 2u);
  }
  sideband::v1::GetSnapshotResponse snapshot;
  EXPECT_TRUE(GetSnapshot(*stub, "", snapshot).ok());
  EXPECT_EQ(snapshot.snapshots(0).scopes_size(), response.update().scopes_size());
  ExpectMetric(*metrics_, "sideband_grpc_snapshot_serialisations_total 2");
  ExpectMetric(*metrics_, absl::StrCat("sideband_grpc_snapshots_total ", 2 * kStreams + 1));
  for (grpc::ClientContext& context : contexts) context.TryCancel();
}

TEST_F(GrpcStreamTest, NoPublicationIsLostInTheCount) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  reader->Read(&response);
  reader->Read(&response);
  std::jthread collector([this] {
    for (uint64_t p = 2; p <= 500; ++p) world_.Publish(0, p);
  });
  uint64_t seen = 1;
  while (seen < 500) {
    ASSERT_TRUE(reader->Read(&response));
    EXPECT_EQ(response.update().snapshot_id(), seen + response.skipped() + 1);
    seen = response.update().snapshot_id();
  }
  context.TryCancel();
}

TEST_F(GrpcStreamTest, APolicyChangeEndsTheStreamWithoutAPublication) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  reader->Read(&response);
  reader->Read(&response);
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcStreamTest, StopEndsStreamsPlainly) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  reader->Read(&response);
  reader->Read(&response);
  std::jthread stopper([this] { server_->Stop(absl::Seconds(5)); });
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "shutting down");
}

TEST_F(GrpcStreamTest, StreamsPerIdentityAreLimited) {
  options_.streams_per_identity_max = 1;
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext first;
  const auto reader = stub->Subscribe(&first, EndlessRequest());
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  grpc::ClientContext second;
  EXPECT_EQ(stub->Subscribe(&second, EndlessRequest())->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  const auto& trailers = second.GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);
  EXPECT_EQ(trailers.find("grpc-retry-pushback-ms")->second, "5000");
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_grpc_streams 1\n"));
  first.TryCancel();
}

TEST_F(GrpcStreamTest, SealedRecordsGoToWhoMayCarryThem) {
  Start();
  const auto channel = Channel("URI:spiffe://example.org/tenant-c");
  const auto stub = Confidential::NewStub(channel);
  sideband::v1::SubscribeSealedRequest request;
  request.set_device("gpu0");
  request.set_vm("secret");
  grpc::ClientContext context;
  const auto reader = stub->SubscribeSealed(&context, request);
  sideband::v1::SealedRecord record;
  ASSERT_TRUE(reader->Read(&record));
  EXPECT_EQ(record.record(), "sealed-1");
  world_.Publish(0, 2);
  ASSERT_TRUE(reader->Read(&record));
  EXPECT_EQ(record.record(), "sealed-2");
  context.TryCancel();
  grpc::ClientContext other;
  const auto operator_stub = Confidential::NewStub(Channel("URI:spiffe://example.org/ops"));
  EXPECT_EQ(operator_stub->SubscribeSealed(&other, request)->Finish().error_code(), grpc::NOT_FOUND);
}

TEST_F(GrpcStreamTest, AStreamIsToldWhenItBeginsAndWhenThePolicyEndsIt) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::UNAUTHENTICATED);
  server_->Stop(absl::Seconds(3));
  const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].endpoint, "Telemetry/Subscribe");
  EXPECT_EQ(entries[0].reason, "stream began: in the policy");
  EXPECT_EQ(entries[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(entries[1].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(entries[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(entries[1].policy_version, 2u);
}

}  // namespace
}  // namespace sideband::daemon
