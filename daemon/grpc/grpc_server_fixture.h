// SPDX-License-Identifier: Apache-2.0
//
// A server over a FakeWorld, and clients of it over real connections.
//   class GrpcStreamTest : public GrpcServerFixture {};
//   TEST_F(GrpcStreamTest, OnceEnds) { Start(); const auto stub = As("tenant-a"); … }
#ifndef SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_
#define SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/api/fake_world.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/grpc/grpc_server.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::daemon {

// A stream without end.
sideband::v1::SubscribeRequest StreamRequest();

// gpu0 has been read once. What `options_` says holds from Start() on.
class GrpcServerFixture : public testing::Test {
 protected:
  GrpcServerFixture();

  void Start() { StartWith(world_.reader); }
  void StartWith(Reader& reader);
  // A connection of its own with a new certificate of these names; empty: without one.
  std::shared_ptr<grpc::Channel> Channel(const std::string& alternative_names,
                                         const grpc::ChannelArguments& arguments = {}) const;
  // The client spiffe://example.org/WHO.
  std::unique_ptr<sideband::v1::Telemetry::Stub> As(const std::string& who) const;
  static grpc::Status GetSnapshot(sideband::v1::Telemetry::Stub& stub, const std::string& vm,
                                  sideband::v1::GetSnapshotResponse& response);

  const FakeCa ca_{"ca", testing::TempDir()};
  FakeWorld world_;
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  GrpcServer::Options options_;
  std::unique_ptr<GrpcServer> server_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_GRPC_SERVER_FIXTURE_H_
