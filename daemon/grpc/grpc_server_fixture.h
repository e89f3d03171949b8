// SPDX-License-Identifier: Apache-2.0
//
// A gRPC server over a FakeWorld, and clients over real connections, which may send any bytes.
//   class GrpcStreamTest : public GrpcServerFixture {};
//   TEST_F(GrpcStreamTest, OnceEnds) {
//     Start();
//     const auto stub = As("tenant-a");
//     // …
//   }
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/fake_world.h"
#include "proto/base/wait_until.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::daemon {

struct RawAnswer {
  grpc::Status status;
  std::vector<std::string> responses;  // the bytes of each message
  std::multimap<std::string, std::string> trailers;
};

grpc::ByteBuffer BytesOf(const std::string& text);
std::string TextOf(const grpc::ByteBuffer& bytes);

// Blocks until the server has ended the call. `authorization` has the values of that metadata field.
RawAnswer RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                  const grpc::ByteBuffer& request, const std::vector<std::string>& authorization = {});

// The message for a caller without an identity of the policy.
inline constexpr char kUnknownCaller[] = "the caller has no valid credentials, or is not in the policy";

// A Subscribe request in MODE_STREAM, of everything or of a device or VM.
sideband::v1::SubscribeRequest EndlessRequest(const std::string& device = "", const std::string& vm = "");

// A stream's message as its reader parses it.
inline sideband::v1::SubscribeResponse Whole(const StreamMessage& message) {
  sideband::v1::SubscribeResponse whole = message.fields;
  if (message.update) whole.mutable_update()->ParseFromString(message.update->body->bytes + message.update->moment);
  return whole;
}

// gpu0 has one snapshot. Changes of `options_` take effect at Start().
class GrpcServerFixture : public testing::Test {
 protected:
  GrpcServerFixture();

  void Start() { StartWith(world_.reader); }
  void StartWith(Reader& reader);
  // A new connection with a new certificate of these subject alternative names; without a certificate where they are
  // empty.
  std::shared_ptr<grpc::Channel> Channel(const std::string& alternative_names,
                                         const grpc::ChannelArguments& arguments = {}) const;
  // A client with the identity spiffe://example.org/WHO.
  std::unique_ptr<sideband::v1::Telemetry::Stub> As(const std::string& who) const;
  static grpc::Status GetSnapshot(sideband::v1::Telemetry::Stub& stub, const std::string& vm,
                                  sideband::v1::GetSnapshotResponse& response);

  // Reads of a stream, calls and Stop() wait for the server.
  const TimeLimit limit_{"a test of the gRPC server to end", absl::Minutes(4)};
  const FakeCa ca_{"ca", testing::TempDir()};
  FakeWorld world_;
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  GrpcServer::Options options_;
  std::unique_ptr<GrpcServer> server_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_
