// SPDX-License-Identifier: Apache-2.0
//
// The limits of one identity: calls per second, concurrent calls, and unread answer bytes.
#include <grpc/grpc.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/metrics/expect_metric.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeResponse;
using sideband::v1::Telemetry;

class GrpcBoundsTest : public GrpcServerFixture {
 protected:
  grpc::StatusCode Ask(Telemetry::Stub& stub) {
    sideband::v1::GetSnapshotResponse response;
    return GetSnapshot(stub, "", response).error_code();
  }

  // Retries: a call may end for its client before it ends for the server, which frees its share later.
  void AwaitAnswer(Telemetry::Stub& stub) {
    WaitUntil([&] { return Ask(stub) == grpc::OK; }, "an answer to a call within the limits");
  }

  // Retries for an admitted stream, and reads one message of it.
  static std::unique_ptr<grpc::ClientReader<SubscribeResponse>> OpenSoon(Telemetry::Stub& stub,
                                                                         std::optional<grpc::ClientContext>& context) {
    std::unique_ptr<grpc::ClientReader<SubscribeResponse>> stream;
    const auto is_open = [&] {
      stream.reset();  // before its context
      context.emplace();
      stream = stub.Subscribe(&*context, EndlessRequest());
      SubscribeResponse response;
      if (stream->Read(&response)) return true;
      stream->Finish();
      return false;
    };
    WaitUntil(is_open, "a stream within the limits");
    return stream;
  }

  // The call must have ended.
  static std::vector<std::string> Pushbacks(const grpc::ClientContext& context) {
    std::vector<std::string> values;
    const auto [first, last] = context.GetServerTrailingMetadata().equal_range("grpc-retry-pushback-ms");
    for (auto field = first; field != last; ++field) values.emplace_back(field->second.data(), field->second.size());
    return values;
  }
};

constexpr char kRefusedSnapshots[] =
    "sideband_grpc_requests_total{code=\"RESOURCE_EXHAUSTED\",method=\"GetSnapshot\"} ";

TEST_F(GrpcBoundsTest, WhoHasUsedUpTheProcessorIsToldWhenToAskAgain) {
  // Each work takes more than there is.
  WorkQueue work({.threads = 1,
                  .processor = {.burst = 1, .per_second = 0.1},
                  .processor_time =
                      [] {
                        thread_local absl::Duration used;
                        return used += absl::Seconds(2);
                      }},
                 world_.clock);
  options_.parts.work = &work;
  Start();
  EXPECT_EQ(Ask(*As("tenant-a")), grpc::OK);
  // Work is charged a moment after its answer.
  EXPECT_EQ(Ask(*As("tenant-b")), grpc::OK);
  grpc::ClientContext context;
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(As("tenant-a")->GetSnapshot(&context, {}, &response).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Pushbacks(context), std::vector<std::string>{"10000"});
  EXPECT_EQ(Ask(*As("ops")), grpc::OK);
  work.Stop();
  server_.reset();
}

// The policy changes between the admission of a call and its turn.
TEST_F(GrpcBoundsTest, ACallThatWaitsSeesThePolicyInForce) {
  WorkQueue work({.processor_time =
                      [this] {
                        world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
                        return absl::ZeroDuration();
                      }},
                 world_.clock);
  options_.parts.work = &work;
  Start();
  EXPECT_EQ(Ask(*As("tenant-a")), grpc::UNAUTHENTICATED);
  work.Stop();
  server_.reset();
}

// It would be inflated before its caller is authenticated.
TEST_F(GrpcBoundsTest, CompressedRequestsAreNotInflated) {
  Start();
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    sideband::v1::GetSnapshotRequest request;
    request.mutable_filter()->set_device(std::string(10'000, 'x'));
    sideband::v1::GetSnapshotResponse response;
    EXPECT_EQ(As("tenant-a")->GetSnapshot(&context, request, &response).error_code(), grpc::UNIMPLEMENTED);
  }
  EXPECT_EQ(Ask(*As("tenant-a")), grpc::OK);
}

TEST_F(GrpcBoundsTest, WhoAsksTooOftenIsToldWhenToAskAgain) {
  options_.requests = {.per_second = 10, .burst = 3};
  Start();
  const auto greedy = As("tenant-a"), other = As("tenant-b");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(*greedy), grpc::OK);
  grpc::ClientContext context;
  sideband::v1::GetSnapshotResponse response;
  const grpc::Status refused = greedy->GetSnapshot(&context, {}, &response);
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.error_message(), "at most 10 calls a second");
  const auto& trailers = context.GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);
  EXPECT_EQ(trailers.find("grpc-retry-pushback-ms")->second, "100");
  EXPECT_EQ(Ask(*other), grpc::OK);
  EXPECT_EQ(Ask(*As("tenant-a")), grpc::RESOURCE_EXHAUSTED) << "another connection does not help";
  world_.clock.Advance(absl::Milliseconds(100));
  EXPECT_EQ(Ask(*greedy), grpc::OK);
  ExpectMetric(*metrics_, absl::StrCat(kRefusedSnapshots, 2));
}

TEST_F(GrpcBoundsTest, AClientThatMayRetryKeepsToIt) {
  options_.requests = {.per_second = 10, .burst = 1};
  Start();
  ASSERT_EQ(Ask(*As("tenant-a")), grpc::OK);
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(R"({"methodConfig": [{"name": [{"service": "sideband.v1.Telemetry"}],
    "retryPolicy": {"maxAttempts": 2, "initialBackoff": "3600s", "maxBackoff": "3600s", "backoffMultiplier": 1,
                    "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]})");
  const auto stub = Telemetry::NewStub(Channel("URI:spiffe://example.org/tenant-a", arguments));
  std::jthread clock([this] {
    ExpectMetric(*metrics_, absl::StrCat(kRefusedSnapshots, 1));
    world_.clock.Advance(absl::Milliseconds(100));
  });
  EXPECT_EQ(Ask(*stub), grpc::OK);
}

TEST_F(GrpcBoundsTest, RefusalsInARowAreToldTheAuditLogOnce) {
  options_.requests = {.per_second = 10, .burst = 1};
  Start();
  const auto greedy = As("tenant-a");
  for (int i = 0; i < 5; ++i) Ask(*greedy);
  Ask(*As("tenant-b"));
  world_.clock.Advance(absl::Milliseconds(100));
  for (int i = 0; i < 5; ++i) Ask(*greedy);
  std::vector<std::string> reasons;
  for (const AuditEntry& entry : world_.audit.Entries(AuditKind::kAccess)) reasons.push_back(entry.reason);
  const std::string refused = "RESOURCE_EXHAUSTED: at most 10 calls a second";
  EXPECT_EQ(reasons, std::vector<std::string>({"in the policy", refused, "in the policy", "in the policy", refused}));
}

TEST_F(GrpcBoundsTest, TheBeginningOfAStreamIsACall) {
  options_.requests = {.per_second = 10, .burst = 1};
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext first, second;
  const auto stream = stub->Subscribe(&first, EndlessRequest());
  SubscribeResponse response;
  ASSERT_TRUE(stream->Read(&response));
  const auto refused = stub->Subscribe(&second, EndlessRequest());
  EXPECT_EQ(refused->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(second.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1u);
  world_.Publish(0, 2);
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(stream->Read(&response)) << "what is open goes on";
  first.TryCancel();
}

TEST_F(GrpcBoundsTest, CallsAtATimeAreLimitedStreamsAmongThem) {
  options_.under_way.calls_max = 2;
  options_.requests.burst = 1'000'000;
  Start();
  const auto stub = As("tenant-a");
  for (int i = 0; i < 10; ++i) AwaitAnswer(*stub);
  std::optional<grpc::ClientContext> contexts[2];
  const auto first = OpenSoon(*stub, contexts[0]);
  const auto second = OpenSoon(*stub, contexts[1]);
  sideband::v1::GetSnapshotResponse snapshot;
  grpc::ClientContext refused;
  EXPECT_EQ(stub->GetSnapshot(&refused, {}, &snapshot).error_message(), "at most 2 calls at a time; retry in 1s");
  EXPECT_EQ(Pushbacks(refused), std::vector<std::string>({"1000"}));
  // A stream is told likewise.
  grpc::ClientContext third;
  EXPECT_EQ(stub->Subscribe(&third, EndlessRequest())->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Pushbacks(third), std::vector<std::string>({"1000"}));
  EXPECT_EQ(Ask(*As("tenant-b")), grpc::OK);
  contexts[0]->TryCancel();
  AwaitAnswer(*stub);
  contexts[1]->TryCancel();
}

// A call whose client does not read the answer: flow control keeps the server from sending all of it.
class UnreadCall {
 public:
  explicit UnreadCall(Telemetry::Stub& stub) : call_(stub.AsyncGetSnapshot(&context_, {}, &queue_)) {
    call_->ReadInitialMetadata(this);
  }
  ~UnreadCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool is_good = false;
    while (queue_.Next(&tag, &is_good)) {
    }
  }
  // Waits for the initial metadata of the answer; false where the call failed.
  bool IsAnswered() {
    void* tag = nullptr;
    bool is_good = false;
    return queue_.Next(&tag, &is_good) && is_good;
  }

 private:
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  const std::unique_ptr<grpc::ClientAsyncResponseReader<sideband::v1::GetSnapshotResponse>> call_;
};

TEST_F(GrpcBoundsTest, WhoHasNotReadGetsNoMore) {
  options_.under_way.bytes_max = 1;
  options_.requests.burst = 1'000'000;
  Start();
  grpc::ChannelArguments little_room;
  little_room.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
  little_room.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  const auto stub = Telemetry::NewStub(Channel("URI:spiffe://example.org/tenant-a", little_room));
  const auto other_connection = As("tenant-a");
  {
    UnreadCall unread(*stub);
    ASSERT_TRUE(unread.IsAnswered());
    sideband::v1::GetSnapshotResponse snapshot;
    const grpc::Status refused = GetSnapshot(*other_connection, "", snapshot);
    EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_EQ(refused.error_message(), "too many bytes of earlier answers are unread; retry in 1s");
    EXPECT_EQ(Ask(*As("tenant-b")), grpc::OK);
  }
  AwaitAnswer(*other_connection);  // what was held is given back with the call
}

TEST_F(GrpcBoundsTest, TheAuditLogIsToldTheSizeOfALargeRequest) {
  Start();
  const auto stub = As("tenant-a");
  sideband::v1::GetSnapshotResponse response;
  GetSnapshot(*stub, std::string(1000, 'v'), response);
  GetSnapshot(*stub, std::string(2000, 'v'), response);
  const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].resource, absl::StrCat("filter { vm: \"", std::string(1000, 'v'), "\" }"));
  EXPECT_EQ(entries[1].resource, "2006 bytes");
}

// Unauthenticated callers have no quota; their calls must not consume that of an identity either.
TEST_F(GrpcBoundsTest, StrangersUseUpNobodysQuota) {
  options_.requests = {.per_second = 10, .burst = 1};
  Start();
  const auto stranger = As("stranger");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Ask(*stranger), grpc::UNAUTHENTICATED);
  EXPECT_EQ(Ask(*As("tenant-a")), grpc::OK);
}

}  // namespace
}  // namespace sideband::daemon
