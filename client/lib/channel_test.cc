// SPDX-License-Identifier: Apache-2.0
#include "client/lib/channel.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "client/lib/telemetry_client.h"

namespace sideband::client {
namespace {

class ChannelTest : public testing::Test {
 protected:
  ClientConfig Config() const {
    return {.address = daemon_.address(),
            .ca_file = files_.ca_file,
            .cert_file = files_.client_cert_file,
            .key_file = files_.client_key_file};
  }

  absl::Status Call(const ClientConfig& config) {
    const auto channel = Connect(config);
    if (!channel.ok()) return channel.status();
    return TelemetryClient(*channel, {.peer = config.address}, cancellation_).ListDevices({}).status();
  }

  static std::string TokenFile(const std::string& text) {
    const std::string path = testing::TempDir() + "/token";
    std::ofstream(path) << text;
    return path;
  }

  const TestCertificates files_ = TestCertificates::WriteTo(testing::TempDir());
  const FakeDaemon daemon_{{}, files_.MutualTls()};
  Cancellation cancellation_;
};

TEST_F(ChannelTest, ConnectsWithMutualTls) { EXPECT_EQ(Call(Config()), absl::OkStatus()); }

TEST_F(ChannelTest, ServerNameIsChecked) {
  ClientConfig config = Config();
  config.server_name = "localhost";
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.server_name = "elsewhere";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable);
}

TEST_F(ChannelTest, LocalhostIsTheLoopbackWithoutAResolver) {
  EXPECT_EQ(DialTarget("localhost:9878"), "ipv6:[::1]:9878,[::ffff:127.0.0.1]:9878");
  EXPECT_EQ(DialTarget("LocalHost:1"), "ipv6:[::1]:1,[::ffff:127.0.0.1]:1");
  for (const char* other : {"localhost.example:1", "mylocalhost:1", "127.0.0.1:1", "[::1]:1", "localhost", ""}) {
    EXPECT_EQ(DialTarget(other), other);
  }
}

TEST_F(ChannelTest, LocalhostMustBeInTheServersCertificate) {
  ClientConfig config = Config();
  config.address = absl::StrCat("localhost:", daemon_.address().substr(daemon_.address().rfind(':') + 1));
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.server_name = "elsewhere";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable);
  const TestCertificates by_address = TestCertificates::WriteTo(testing::TempDir(), "IP:127.0.0.1");
  const FakeDaemon nameless({}, by_address.MutualTls());
  config = Config();
  config.address = nameless.address();
  EXPECT_EQ(Call(config), absl::OkStatus());
  config.address = absl::StrCat("localhost:", nameless.address().substr(nameless.address().rfind(':') + 1));
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kUnavailable) << "the certificate is for the address alone";
}

TEST_F(ChannelTest, ServerOfAnotherAuthorityIsRefused) {
  ClientConfig config = Config();
  config.ca_file = TestCertificates::WriteTo(testing::TempDir()).ca_file;  // overwrites the files that the config names
  config.cert_file = testing::TempDir() + "/client.pem";
  const absl::Status refused = Call(config);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(IsRemote(refused));
}

TEST_F(ChannelTest, NobodyThereIsUnavailableAndNamed) {
  ClientConfig config = Config();
  config.address = "127.0.0.1:1";
  const absl::Status status = Call(config);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message().substr(0, 13), "127.0.0.1:1: ");
}

TEST_F(ChannelTest, WhatIsMissingIsNamed) {
  ClientConfig config = Config();
  config.key_file.clear();
  EXPECT_EQ(Call(config).message(), "no key_file is given: the configuration must name it");
  config = Config();
  config.ca_file = "/nonexistent.pem";
  EXPECT_EQ(Call(config).code(), absl::StatusCode::kNotFound);
}

TEST_F(ChannelTest, ATokenIsSentBesideTheCertificate) {
  ClientConfig config = Config();
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon_.requests().authorization, "");
  config.token_file = TokenFile("a.b.c\n");
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon_.requests().authorization, "Bearer a.b.c");
}

TEST_F(ChannelTest, ATokenMayTakeTheCertificatesPlace) {
  const FakeDaemon daemon({}, files_.ServerOnlyTls());
  ClientConfig config = {.address = daemon.address(), .ca_file = files_.ca_file, .token_file = TokenFile("a.b.c")};
  EXPECT_EQ(Call(config), absl::OkStatus());
  EXPECT_EQ(daemon.requests().authorization, "Bearer a.b.c");
  config.key_file = files_.client_key_file;
  EXPECT_EQ(Call(config).message(), "no cert_file is given: the configuration must name it");
  config = {.address = daemon.address(), .ca_file = files_.ca_file, .token_file = TokenFile("a b")};
  EXPECT_EQ(Call(config).message(), config.token_file + ": more than one token, or none");
}

TEST_F(ChannelTest, AddressMustBeHostAndPort) {
  for (const char* address :
       {"", "host", "host:", ":1", "host:0", "host:65536", "host:1x", "::1:1", "unix:", "[::1]"}) {
    ClientConfig config = Config();
    config.address = address;
    EXPECT_EQ(Call(config).code(), absl::StatusCode::kInvalidArgument) << address;
  }
  for (const char* address : {"host:1", "127.0.0.1:65535", "[::1]:9878"}) {
    ClientConfig config = Config();
    config.address = address;
    EXPECT_TRUE(Connect(config).ok()) << address;
  }
}

TEST_F(ChannelTest, AUnixSocketNeedsNoCertificates) {
  const absl::Status nobody = Call({.address = "unix:absent.sock"});
  EXPECT_EQ(nobody.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StartsWith(nobody.message(), "unix:")) << nobody;
}

}  // namespace
}  // namespace sideband::client
