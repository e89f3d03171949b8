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

TEST(RpcStatusTest, WhereNothingConnectsItSaysWhatToLookAt) {
  const std::string failed =
      "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect ";
  const struct {
    std::string theirs, ours;
  } kCases[] = {
      {failed + "to remote host: Connection refused",
       "no program listens there: is the daemon running, and is this its gRPC port or socket?"},
      {"DNS resolution failed for nohost:1: C-ares status is not ARES_SUCCESS qtype=A name=nohost is_balancer=0: "
       "Domain "
       "name not found",
       "the host's name is not known: is it misspelt, or does DNS have no entry for it?"},
      {"DNS resolution failed for nohost:1: C-ares status is not ARES_SUCCESS qtype=A name=nohost is_balancer=0: Could "
       "not contact DNS servers",
       "the host's name cannot be looked up: no DNS server answers; a numeric address needs none"},
      {"failed to connect to all addresses; last error: UNKNOWN: unix:/run/x.sock: No such file or directory",
       "the socket is not there: is the daemon running, with this unix_socket?"},
      {"failed to connect to all addresses; last error: INTERNAL: unix:http.sock: Trying to connect an http1.x server",
       "the server there speaks HTTP, but not gRPC: is it the daemon's HTTP socket? gRPC has its own: "
       "grpc.unix_socket"},
      {failed + "to remote host: No route to host", "there is no route to the host: is the address right?"},
      {failed + "to remote host: Connection timed out",
       "the host does not answer: is the address right, and does a firewall let it through?"},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Told(grpc::UNAVAILABLE, test.theirs, "h:1"), "UNAVAILABLE: h:1: " + test.ours);
    EXPECT_EQ(Told(grpc::INTERNAL, test.theirs, "h:1"), "INTERNAL: h:1: " + test.theirs);
  }
}

TEST(RpcStatusTest, AnErrorOfTheDaemonsBusIsNotOfTheConnection) {
  for (const std::string theirs : {"the device was not triggered: gpu0.sock: Connection refused",
                                   "the device was not marked: Connection timed out",
                                   "the device was not changed: /dev/i2c-3: No such file or directory"}) {
    EXPECT_EQ(Told(grpc::UNAVAILABLE, theirs, "h:1"), "UNAVAILABLE: h:1: " + theirs);
  }
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

using Code = absl::StatusCode;

absl::Status Remote(Code code) { return MarkRemote(absl::Status(code, "host:1: gone")); }

TEST(StreamEndTest, WhatIsPassing) {
  for (int code = 1; code <= static_cast<int>(Code::kUnauthenticated); ++code) {
    const absl::Status ended = Remote(static_cast<Code>(code));
    const bool is_passing = ended.code() == Code::kUnavailable || ended.code() == Code::kCancelled ||
                            ended.code() == Code::kDeadlineExceeded || ended.code() == Code::kResourceExhausted;
    EXPECT_EQ(MayOpenAgain(ended, {.was_open = true}), is_passing) << ended;
    EXPECT_FALSE(MayOpenAgain(ended, {})) << "the first connection: " << ended;
    EXPECT_EQ(MayOpenAgain(ended, {.waits_for_first = true}), is_passing) << ended;
  }
}

TEST(StreamEndTest, AMessageThatIsTooLargeIsSoAgain) {
  const absl::Status ended = MarkRemote(absl::ResourceExhaustedError("Received message larger than max (20 vs. 10)"));
  EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true}));
}

TEST(StreamEndTest, CredentialsThatAreNewAreTried) {
  EXPECT_TRUE(MayOpenAgain(Remote(Code::kUnauthenticated), {.was_open = true, .has_new_credentials = true}));
  EXPECT_FALSE(MayOpenAgain(Remote(Code::kUnauthenticated), {.has_new_credentials = true})) << "it was never open";
  EXPECT_FALSE(MayOpenAgain(Remote(Code::kPermissionDenied), {.was_open = true, .has_new_credentials = true}));
}

TEST(StreamEndTest, ADaemonThatStartsAndFilesThatAreReplacedHaveSomeTime) {
  for (const absl::Status& ended : {Remote(Code::kNotFound), absl::NotFoundError("client.pem: no such file"),
                                    absl::InvalidArgumentError("client.key: not the private key of client.pem")}) {
    EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true})) << "of a connection: " << ended;
    EXPECT_TRUE(MayOpenAgain(ended, {.was_open = true, .starting_for = absl::ZeroDuration()})) << ended;
    EXPECT_FALSE(MayOpenAgain(ended, {.was_open = true, .starting_for = kStartingPatience})) << ended;
  }
  EXPECT_FALSE(MayOpenAgain(absl::NotFoundError("client.pem: no such file"),
                            {.waits_for_first = true, .starting_for = absl::ZeroDuration()}))
      << "at first it is a mistake";
}

}  // namespace
}  // namespace sideband::client
