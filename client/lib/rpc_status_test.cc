// SPDX-License-Identifier: Apache-2.0
#include "client/lib/rpc_status.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

namespace sideband::client {
namespace {

std::string Told(grpc::StatusCode code, const std::string& message, const std::string& peer = "localhost:9877") {
  return FromRpc(grpc::Status(code, message), peer).ToString(absl::StatusToStringMode::kWithNoExtraData);
}

TEST(RpcStatusTest, HasItsCodeAndItsPeer) {
  EXPECT_EQ(FromRpc(grpc::Status::OK, "peer"), absl::OkStatus());
  EXPECT_EQ(Told(grpc::NOT_FOUND, "no such VM"), "NOT_FOUND: localhost:9877: no such VM");
  EXPECT_EQ(Told(grpc::NOT_FOUND, "no such VM", ""), "NOT_FOUND: no such VM");
  EXPECT_EQ(Told(grpc::CANCELLED, ""), "CANCELLED: localhost:9877: CANCELLED");
  EXPECT_TRUE(IsRemote(FromRpc(grpc::Status(grpc::INTERNAL, "x"), "")));
  EXPECT_FALSE(IsRemote(absl::InternalError("x")));
}

TEST(RpcStatusTest, TheHttpsPortIsGuessed) {
  EXPECT_EQ(Told(grpc::UNAVAILABLE,
                 "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9877: Cannot check peer: "
                 "missing selected ALPN property."),
            "UNAVAILABLE: localhost:9877: the server at this address speaks TLS, but not gRPC: is it the daemon's "
            "HTTPS port? gRPC has its own port");
}

TEST(RpcStatusTest, ASocketThatIsClosedIsForOthers) {
  const grpc::Status closed(grpc::StatusCode::UNAVAILABLE, "Broken pipe");
  EXPECT_EQ(
      FromRpc(closed, "unix:grpc.sock").message(),
      "unix:grpc.sock: the daemon closed the connection: is it running, and is this user one of its local_operators?");
  EXPECT_EQ(FromRpc(closed, "h:1").message(), "h:1: Broken pipe");
}

}  // namespace
}  // namespace sideband::client
