// SPDX-License-Identifier: Apache-2.0
//
// The listeners of the gRPC server: certificates, handshakes, Unix sockets, and errors at start.
#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/base/socket_folder.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/http/fake_http_client.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeResponse;
using sideband::v1::Telemetry;

class GrpcListenerTest : public GrpcServerFixture {
 protected:
  const SocketFolder folder_;
};

TEST_F(GrpcListenerTest, WithoutACertificateThereIsNoConnection) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*Telemetry::NewStub(Channel("")), "", response).error_code(), grpc::UNAVAILABLE);
}

TEST_F(GrpcListenerTest, Tls12IsRefusedByDefault) {
  Start();
  const CertificateFiles ops = ca_.Issue("ops", "URI:spiffe://example.org/ops");
  EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &ops, TLS1_2_VERSION).is_connected());
  EXPECT_TRUE(FakeHttpClient(server_->port(), ca_.ca_file(), &ops).is_connected());
}

// A stream stays open, and calls are made on new connections, while the certificate is renewed. None may fail.
TEST_F(GrpcListenerTest, CertificatesAreRenewedUnderWay) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto stream = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(stream->Read(&response));
  const CertificateFiles ops = ca_.Issue("ops", "URI:spiffe://example.org/ops");
  const auto serial = [&] { return FakeHttpClient(server_->port(), ca_.ca_file(), &ops).server_serial(); };
  const auto expect_all_is_well = [&](uint64_t round) {
    server_->CheckCertificates();
    world_.Publish(0, 1 + round);
    ASSERT_TRUE(stream->Read(&response)) << round;
    sideband::v1::GetSnapshotResponse snapshot;
    EXPECT_TRUE(GetSnapshot(*As("tenant-a"), "", snapshot).ok()) << round;
    EXPECT_FALSE(serial().empty()) << round;
  };
  const TlsServerConfig& tls = options_.config.listener.tls;
  const std::string first = serial();
  const CertificateFiles renewed = ca_.Issue("renewed", "DNS:localhost,IP:127.0.0.1");
  std::filesystem::rename(renewed.cert_file, tls.cert_file);
  expect_all_is_well(1);
  EXPECT_EQ(serial(), first) << "half of a pair is not taken";
  std::filesystem::rename(renewed.key_file, tls.key_file);
  expect_all_is_well(2);
  const std::string second = serial();
  EXPECT_NE(second, first);
  std::filesystem::remove(tls.key_file);
  expect_all_is_well(3);
  EXPECT_EQ(serial(), second) << "a file that is gone changes nothing";
  context.TryCancel();
}

TEST_F(GrpcListenerTest, ANewClientAuthorityHoldsForNewConnections) {
  const std::string clients = testing::TempDir() + "/clients.pem";
  std::filesystem::copy_file(ca_.ca_file(), clients, std::filesystem::copy_options::overwrite_existing);
  options_.config.listener.tls.client_ca_file = clients;
  Start();
  sideband::v1::GetSnapshotResponse response;
  ASSERT_TRUE(GetSnapshot(*As("tenant-a"), "", response).ok());
  const FakeCa other("other-ca", testing::TempDir());
  std::filesystem::copy_file(other.ca_file(), clients, std::filesystem::copy_options::overwrite_existing);
  server_->ReloadCertificates();
  grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(ca_.ca_file())};
  const CertificateFiles files = other.Issue("newcomer", "URI:spiffe://example.org/tenant-a");
  tls.pem_private_key = *ReadFile(files.key_file);
  tls.pem_cert_chain = *ReadFile(files.cert_file);
  const auto address = absl::StrCat("127.0.0.1:", server_->port());
  EXPECT_TRUE(
      GetSnapshot(*Telemetry::NewStub(grpc::CreateChannel(address, grpc::SslCredentials(tls))), "", response).ok());
  EXPECT_EQ(GetSnapshot(*As("tenant-b"), "", response).error_code(), grpc::UNAVAILABLE)
      << "of the authority that is no longer ours";
}

class GrpcStandingTest : public GrpcServerFixture {
 protected:
  void TearDown() override { server_.reset(); }  // before clock_, to which the server refers

  // Opens a stream of tenant-a, advances the clock of the connections by `advance`, and returns the stream's status.
  grpc::Status EndOfStreamAfter(absl::Duration advance) {
    options_.gate.limits = {.age_max = absl::Hours(1), .clock = &clock_};
    Start();
    const auto stub = As("tenant-a");
    grpc::ClientContext context;
    const auto stream = stub->Subscribe(&context, EndlessRequest());
    SubscribeResponse response;
    EXPECT_TRUE(stream->Read(&response));
    clock_.Advance(advance);
    server_->CheckCertificates();
    while (stream->Read(&response)) {
    }
    return stream->Finish();
  }

  FakeClock clock_{absl::Now()};
};

TEST_F(GrpcStandingTest, AStreamDoesNotOutliveItsCertificate) {
  const grpc::Status ended = EndOfStreamAfter(absl::Hours(24 * 40));
  EXPECT_EQ(ended.error_code(), grpc::UNAUTHENTICATED);
  EXPECT_EQ(ended.error_message(), "the client certificate has expired");
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*As("tenant-a"), "", response).error_code(), grpc::UNAUTHENTICATED) << "nor does a call";
}

TEST_F(GrpcStandingTest, AStreamDoesNotOutliveTheAgeOfConnections) {
  const grpc::Status ended = EndOfStreamAfter(absl::Hours(1));
  EXPECT_EQ(ended.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(ended.error_message(), "the connection has reached its maximum age; connect again");
  sideband::v1::GetSnapshotResponse response;
  EXPECT_TRUE(GetSnapshot(*As("tenant-a"), "", response).ok());
}

// The longest idle connection of the identity is evicted; its client reconnects without an error.
TEST_F(GrpcListenerTest, ConnectionsOfAnIdentityAreBounded) {
  options_.gate.connections_per_identity_max = 2;
  Start();
  std::vector<std::unique_ptr<Telemetry::Stub>> stubs;
  for (int i = 0; i < 5; ++i) stubs.push_back(As("tenant-a"));
  sideband::v1::GetSnapshotResponse response;
  for (int round = 0; round < 3; ++round) {
    for (const auto& stub : stubs) EXPECT_TRUE(GetSnapshot(*stub, "", response).ok());
  }
  EXPECT_THAT(metrics_->Serialize(),
              testing::HasSubstr("sideband_connections_refused_total{listener=\"grpc\",reason=\"idle\"}"));
}

TEST_F(GrpcListenerTest, LocalOperatorsNeedNoCertificate) {
  options_.config.listener.unix_socket = folder_.path() + "/s";
  Start();
  const auto local =
      grpc::CreateChannel("unix:" + options_.config.listener.unix_socket, grpc::experimental::LocalCredentials(UDS));
  sideband::v1::GetSnapshotResponse response;
  const grpc::Status status = GetSnapshot(*Telemetry::NewStub(local), "", response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].principal, absl::StrCat("local:uid=", geteuid()));
  EXPECT_EQ(entries[0].role, "operator");
  EXPECT_EQ(GetSnapshot(*As("stranger"), "", response).error_code(), grpc::UNAUTHENTICATED)
      << "on the network nothing has changed";
  const auto stub = Telemetry::NewStub(local);
  grpc::ClientContext context;
  const auto stream = stub->Subscribe(&context, EndlessRequest());
  SubscribeResponse update;
  ASSERT_TRUE(stream->Read(&update));
  std::jthread stopper([this] { server_->Stop(absl::Seconds(5)); });
  while (stream->Read(&update)) {
  }
  EXPECT_EQ(stream->Finish().error_message(), "shutting down");
}

TEST_F(GrpcListenerTest, AUnixSocketAloneWillDo) {
  options_.config.listener.on_network = false;
  options_.config.listener.unix_socket = folder_.path() + "/s";
  Start();
  EXPECT_EQ(server_->port(), 0);
  const auto local =
      grpc::CreateChannel("unix:" + options_.config.listener.unix_socket, grpc::experimental::LocalCredentials(UDS));
  sideband::v1::GetSnapshotResponse response;
  EXPECT_TRUE(GetSnapshot(*Telemetry::NewStub(local), "", response).ok());
}

TEST_F(GrpcListenerTest, WithoutACertificateWhereThatIsAllowedOneIsNobody) {
  options_.config.listener.tls.client_auth = ClientAuth::kVerifyIfGiven;
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*Telemetry::NewStub(Channel("")), "", response).error_code(), grpc::UNAUTHENTICATED);
  EXPECT_TRUE(GetSnapshot(*As("tenant-a"), "", response).ok());
}

// A silent peer, HTTP/1.1 and malformed frames: each peer loses its own connection only.
TEST_F(GrpcListenerTest, GarbageEndsItsOwnConnectionOnly) {
  Start();
  const CertificateFiles ops = ca_.Issue("ops", "URI:spiffe://example.org/ops");
  FakeHttpClient silent(server_->port(), ca_.ca_file(), &ops);
  FakeHttpClient http1(server_->port(), ca_.ca_file(), &ops);
  http1.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(http1.IsClosed() || http1.IsClosed());
  FakeHttpClient flood(server_->port(), ca_.ca_file(), &ops);
  flood.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(100'000, '\xff'));
  while (!flood.IsClosed()) {
  }
  sideband::v1::GetSnapshotResponse response;
  EXPECT_TRUE(GetSnapshot(*As("ops"), "", response).ok());
}

TEST_F(GrpcListenerTest, ABusyPortIsSaidPlainly) {
  Start();
  options_.config.listener.listen.port = server_->port();
  const absl::Status status = GrpcServer::Start(options_, world_.reader, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            absl::StrCat("grpc: cannot listen on 127.0.0.1:", server_->port(),
                         ": Address already in use: another program has the port (ss -ltnp names it)"));
}

TEST_F(GrpcListenerTest, ABadFileIsNamed) {
  options_.config.listener.tls.client_ca_file = "/nonexistent.crt";
  const absl::Status status = GrpcServer::Start(options_, world_.reader, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "/nonexistent.crt: No such file or directory");
}

}  // namespace
}  // namespace sideband::daemon
