// SPDX-License-Identifier: Apache-2.0
#include "client/lib/rpc_status.h"

#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>
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

TEST(RpcStatusTest, TheServerMayTellWhenToRetry) {
  const grpc::Status refused(grpc::RESOURCE_EXHAUSTED, "at most 64 streams at a time");
  const auto after = [&](const char* pushback) {
    return RetryAfter(FromRpc(refused, "h:1", {{"grpc-retry-pushback-ms", pushback}}));
  };
  EXPECT_EQ(RetryAfter(FromRpc(refused, "h:1", {})), std::nullopt);
  EXPECT_EQ(RetryAfter(FromRpc(refused, "h:1")), std::nullopt);
  EXPECT_EQ(after("5000"), absl::Seconds(5));
  EXPECT_EQ(after("0"), absl::ZeroDuration());
  EXPECT_EQ(after("999999999999"), absl::Hours(1)) << "a server may not silence its clients for longer";
  for (const char* nonsense : {"", "-1", "5s", "1e3", "99999999999999999999999999"}) {
    EXPECT_EQ(after(nonsense), std::nullopt) << nonsense;
  }
  EXPECT_EQ(FromRpc(grpc::Status::OK, "h:1", {{"grpc-retry-pushback-ms", "5"}}), absl::OkStatus());
}

TEST(RpcStatusTest, AMessageBeyondGrpcsLimitIsKnown) {
  EXPECT_TRUE(IsTooLarge(absl::ResourceExhaustedError("Received message larger than max (20 vs. 10)")));
  EXPECT_FALSE(IsTooLarge(absl::ResourceExhaustedError("at most 64 streams at a time")));
}

}  // namespace
}  // namespace sideband::client
