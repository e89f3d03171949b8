// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/api/fake_world.h"
#include "daemon/authz/fake_issuer.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/listen/short_folder.h"
#include "proto/base/file.h"
#include "sideband/v1/telemetry.grpc.pb.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Confidential;
using sideband::v1::SubscribeRequest;
using sideband::v1::SubscribeResponse;
using sideband::v1::Telemetry;
using testing::HasSubstr;

class GrpcServerTest : public testing::Test {
 protected:
  GrpcServerTest() {
    options_.config.listener = {.listen = {"127.0.0.1", 0}, .tls = ca_.Server()};
    options_.config.reflection = true;
    world_.Publish(0, 1);
  }

  void Start() {
    auto server = GrpcServer::Start(options_, world_.reader, *metrics_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::shared_ptr<grpc::Channel> Channel(const std::string& alternative_names) {
    grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(ca_.ca_file())};
    if (!alternative_names.empty()) {
      const CertificateFiles files = ca_.Issue("client", alternative_names);
      tls.pem_private_key = *ReadFile(files.key_file);
      tls.pem_cert_chain = *ReadFile(files.cert_file);
    }
    return grpc::CreateChannel(absl::StrCat("127.0.0.1:", server_->port()), grpc::SslCredentials(tls));
  }

  std::unique_ptr<Telemetry::Stub> As(const std::string& who) {
    return Telemetry::NewStub(Channel("URI:spiffe://example.org/" + who));
  }

  static grpc::Status GetSnapshot(Telemetry::Stub& stub, const std::string& vm,
                                  sideband::v1::GetSnapshotResponse& response) {
    grpc::ClientContext context;
    sideband::v1::GetSnapshotRequest request;
    request.mutable_filter()->set_vm(vm);
    return stub.GetSnapshot(&context, request, &response);
  }

  const FakeCa ca_{"ca", testing::TempDir()};
  const ShortFolder folder_;
  FakeWorld world_;
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  GrpcServer::Options options_;
  std::unique_ptr<GrpcServer> server_;
};

SubscribeRequest StreamRequest() {
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_STREAM);
  return request;
}

TEST_F(GrpcServerTest, EachCallerSeesItsOwn) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  ASSERT_TRUE(GetSnapshot(*As("tenant-a"), "", response).ok());
  ASSERT_EQ(response.snapshots_size(), 1);
  EXPECT_EQ(response.snapshots(0).scopes_size(), 3);
  EXPECT_EQ(response.snapshots(0).scopes(1).counters(0).count(), 1020u);
  const grpc::Status denied = GetSnapshot(*As("tenant-b"), "vm0", response);
  EXPECT_EQ(denied.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(denied.error_message(), GetSnapshot(*As("tenant-b"), "absent", response).error_message());
}

TEST_F(GrpcServerTest, ADnsNameInThePolicyIsAnIdentity) {
  world_.policy.Replace(
      *Policy::Parse("version: 1\noperators: [{name: o, identities: ['dns:prom.example.org']}]\n", "p"));
  Start();
  const auto stub = Telemetry::NewStub(Channel("DNS:other.example.org,DNS:prom.example.org"));
  sideband::v1::GetSnapshotResponse response;
  EXPECT_TRUE(GetSnapshot(*stub, "", response).ok());
}

TEST_F(GrpcServerTest, HistoryIsAnsweredWhereItIsKept) {
  History history({}, 2);
  history.OnPublish(0, world_.store.Newest(0));
  options_.history = &history;
  Start();
  const auto stub = As("tenant-b");
  grpc::ClientContext context;
  sideband::v1::GetHistoryResponse response;
  ASSERT_TRUE(stub->GetHistory(&context, {}, &response).ok());
  ASSERT_EQ(response.devices_size(), 1);
  EXPECT_EQ(response.devices(0).series(0).columns(0).counts(0), 1050u);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_grpc_requests_total{code=\"OK\",method=\"GetHistory\"} 1\n"));
  server_.reset();
}

TEST_F(GrpcServerTest, WithoutAHistoryThatIsSaid) {
  Start();
  const auto stub = As("tenant-b");
  grpc::ClientContext context;
  sideband::v1::GetHistoryResponse response;
  EXPECT_EQ(stub->GetHistory(&context, {}, &response).error_code(), grpc::FAILED_PRECONDITION);
}

TEST_F(GrpcServerTest, StrangersAreUnauthenticated) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  const grpc::Status status = GetSnapshot(*As("stranger"), "", response);
  EXPECT_EQ(status.error_code(), grpc::UNAUTHENTICATED);
  EXPECT_EQ(status.error_message(), "the caller's identity is not in the policy");
  const auto two_uris = Telemetry::NewStub(Channel("URI:spiffe://example.org/ops,URI:spiffe://example.org/tenant-a"));
  EXPECT_EQ(GetSnapshot(*two_uris, "", response).error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcServerTest, WithoutACertificateThereIsNoConnection) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*Telemetry::NewStub(Channel("")), "", response).error_code(), grpc::UNAVAILABLE);
}

TEST_F(GrpcServerTest, Tls12IsRefusedByDefault) {
  Start();
  const CertificateFiles ops = ca_.Issue("ops", "URI:spiffe://example.org/ops");
  EXPECT_FALSE(FakeHttpClient(server_->port(), ca_.ca_file(), &ops, TLS1_2_VERSION).is_connected());
  EXPECT_TRUE(FakeHttpClient(server_->port(), ca_.ca_file(), &ops).is_connected());
}

TEST_F(GrpcServerTest, OnceEnds) {
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

TEST_F(GrpcServerTest, StreamFollowsPublications) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, StreamRequest());
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

TEST_F(GrpcServerTest, NoPublicationIsLostInTheCount) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, StreamRequest());
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

TEST_F(GrpcServerTest, APolicyChangeEndsTheStreamWithoutAPublication) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, StreamRequest());
  SubscribeResponse response;
  reader->Read(&response);
  reader->Read(&response);
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::UNAUTHENTICATED);
}

class GrpcTokenTest : public GrpcServerTest {
 protected:
  GrpcTokenTest() { world_.policy.Replace(FakePolicy(), keys_); }
  // Streams that have just ended are still told to the audit log, by way of what is below.
  ~GrpcTokenTest() override { server_.reset(); }

  void StartWithTokens() {
    auto server = GrpcServer::Start(options_, reader_, *metrics_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string Token(const std::string& who) const {
    return issuer_.Token(absl::StrCat(R"({"sub":"spiffe://example.org/)", who, R"(","aud":"sideband","exp":)",
                                      absl::ToUnixSeconds(world_.clock.Now()) + 60, "}"));
  }
  grpc::Status Ask(Telemetry::Stub& stub, const std::vector<std::string>& fields) {
    grpc::ClientContext context;
    for (const std::string& field : fields) context.AddMetadata("authorization", field);
    return stub.GetSnapshot(&context, {}, &response_);
  }

  const FakeIssuer issuer_ = FakeIssuer::Es256("k1");
  const std::shared_ptr<const KeySet> keys_ = *KeySet::Parse(JwksOf({&issuer_}), "jwks.json");
  TokenVerifier tokens_{{.audience = "sideband"}, world_.clock};
  Reader reader_{world_.store, world_.policy, world_.clock, world_.audit, &tokens_};
  sideband::v1::GetSnapshotResponse response_;
};

TEST_F(GrpcTokenTest, TheMetadataSaysWhoAsks) {
  StartWithTokens();
  const auto stranger = As("stranger"), tenant = As("tenant-a");
  const std::string bearer = "Bearer " + Token("tenant-a");
  EXPECT_TRUE(Ask(*stranger, {bearer}).ok());
  EXPECT_EQ(response_.snapshots(0).scopes_size(), 3);
  for (const std::vector<std::string>& fields :
       {std::vector<std::string>{}, {"Bearer x"}, {"Basic YTpi"}, {bearer + "A"}, {bearer, bearer}}) {
    const grpc::Status refused = Ask(*stranger, fields);
    EXPECT_EQ(refused.error_code(), grpc::UNAUTHENTICATED);
    EXPECT_EQ(refused.error_message(), "the caller's identity is not in the policy");
  }
  EXPECT_EQ(Ask(*tenant, {"Bearer x"}).error_code(), grpc::UNAUTHENTICATED) << "the certificate does not help";
  EXPECT_EQ(Ask(*tenant, {"Bearer " + Token("tenant-b")}).error_code(), grpc::UNAUTHENTICATED) << "ambiguous";
  EXPECT_TRUE(Ask(*tenant, {bearer}).ok());
}

TEST_F(GrpcTokenTest, ATokenNeedsNoCertificate) {
  options_.config.listener.tls.client_auth = ClientAuth::kNone;
  options_.config.listener.tls.client_ca_file.clear();
  StartWithTokens();
  const auto stub = Telemetry::NewStub(Channel(""));
  EXPECT_TRUE(Ask(*stub, {"Bearer " + Token("tenant-a")}).ok());
  EXPECT_EQ(response_.snapshots(0).scopes_size(), 3);
  EXPECT_EQ(Ask(*stub, {}).error_code(), grpc::UNAUTHENTICATED);
  EXPECT_EQ(Ask(*stub, {"Bearer x"}).error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcTokenTest, StreamsEndWithTheirTokenOrItsKey) {
  StartWithTokens();
  const auto stub = As("stranger");
  for (const bool expires : {false, true}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + Token("tenant-a"));
    const auto reader = stub->Subscribe(&context, StreamRequest());
    SubscribeResponse response;
    ASSERT_TRUE(reader->Read(&response));
    ASSERT_TRUE(reader->Read(&response));
    // No publication from here on.
    if (expires) {
      world_.clock.Advance(absl::Seconds(60) + kTokenLeeway);
    } else {
      const FakeIssuer another = FakeIssuer::Es256("k2");
      world_.policy.Replace(FakePolicy(), *KeySet::Parse(JwksOf({&another}), "jwks.json"));
    }
    EXPECT_FALSE(reader->Read(&response));
    EXPECT_EQ(reader->Finish().error_code(), grpc::UNAUTHENTICATED);
    world_.policy.Replace(FakePolicy(), keys_);
  }
}

TEST_F(GrpcServerTest, StopEndsStreamsPlainly) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, StreamRequest());
  SubscribeResponse response;
  reader->Read(&response);
  reader->Read(&response);
  std::jthread stopper([this] { server_->Stop(absl::Seconds(5)); });
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "shutting down");
}

TEST_F(GrpcServerTest, StreamsPerIdentityAreLimited) {
  options_.streams_per_identity_max = 1;
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext first;
  const auto reader = stub->Subscribe(&first, StreamRequest());
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  grpc::ClientContext second;
  EXPECT_EQ(stub->Subscribe(&second, StreamRequest())->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_grpc_streams 1\n"));
  first.TryCancel();
}

TEST_F(GrpcServerTest, SealedRecordsGoToWhoMayCarryThem) {
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

TEST_F(GrpcServerTest, LargeRequestsAreRefused) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*As("ops"), std::string(kGrpcRequestBytesMax + 1, 'x'), response).error_code(),
            grpc::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcServerTest, CallsAreToldTheAuditLog) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  GetSnapshot(*As("tenant-a"), "", response);
  GetSnapshot(*As("tenant-b"), "vm0", response);
  GetSnapshot(*As("stranger"), "", response);
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(told[0].endpoint, "Telemetry/GetSnapshot");
  EXPECT_EQ(told[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(told[1].resource, "filter { vm: \"vm0\" }");
  EXPECT_EQ(told[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(told[1].reason, "absent or denied");
  EXPECT_EQ(told[2].principal, "");
  EXPECT_EQ(told[2].detail, std::vector<std::string>({"certificate uri spiffe://example.org/stranger"}));
}

TEST_F(GrpcServerTest, AStreamIsToldWhenItBeginsAndWhenThePolicyEndsIt) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto reader = stub->Subscribe(&context, StreamRequest());
  SubscribeResponse response;
  ASSERT_TRUE(reader->Read(&response));
  world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::UNAUTHENTICATED);
  server_->Stop(absl::Seconds(3));
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].endpoint, "Telemetry/Subscribe");
  EXPECT_EQ(told[0].reason, "stream began: in the policy");
  EXPECT_EQ(told[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(told[1].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(told[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(told[1].policy_version, 2u);
}

TEST_F(GrpcServerTest, CallsAreCounted) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  GetSnapshot(*As("ops"), "absent", response);
  EXPECT_THAT(metrics_->Serialize(),
              HasSubstr("sideband_grpc_requests_total{code=\"NOT_FOUND\",method=\"GetSnapshot\"} 1\n"));
}

// Under way all the time: a stream, and calls on new connections. None of them fails.
TEST_F(GrpcServerTest, CertificatesAreRenewedUnderWay) {
  Start();
  const auto stub = As("tenant-a");
  grpc::ClientContext context;
  const auto stream = stub->Subscribe(&context, StreamRequest());
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

TEST_F(GrpcServerTest, ANewClientAuthorityHoldsForNewConnections) {
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

TEST_F(GrpcServerTest, LocalOperatorsNeedNoCertificate) {
  options_.config.listener.unix_socket = folder_.path() + "/s";
  Start();
  const auto local =
      grpc::CreateChannel("unix:" + options_.config.listener.unix_socket, grpc::experimental::LocalCredentials(UDS));
  sideband::v1::GetSnapshotResponse response;
  const grpc::Status status = GetSnapshot(*Telemetry::NewStub(local), "", response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].principal, absl::StrCat("local:uid=", geteuid()));
  EXPECT_EQ(told[0].role, "operator");
  EXPECT_EQ(GetSnapshot(*As("stranger"), "", response).error_code(), grpc::UNAUTHENTICATED)
      << "on the network nothing has changed";
  const auto stub = Telemetry::NewStub(local);
  grpc::ClientContext context;
  const auto stream = stub->Subscribe(&context, StreamRequest());
  SubscribeResponse update;
  ASSERT_TRUE(stream->Read(&update));
  std::jthread stopper([this] { server_->Stop(absl::Seconds(5)); });
  while (stream->Read(&update)) {
  }
  EXPECT_EQ(stream->Finish().error_message(), "shutting down");
}

TEST_F(GrpcServerTest, AUnixSocketAloneWillDo) {
  options_.config.listener.on_network = false;
  options_.config.listener.unix_socket = folder_.path() + "/s";
  Start();
  EXPECT_EQ(server_->port(), 0);
  const auto local =
      grpc::CreateChannel("unix:" + options_.config.listener.unix_socket, grpc::experimental::LocalCredentials(UDS));
  sideband::v1::GetSnapshotResponse response;
  EXPECT_TRUE(GetSnapshot(*Telemetry::NewStub(local), "", response).ok());
}

TEST_F(GrpcServerTest, WithoutACertificateWhereThatIsAllowedOneIsNobody) {
  options_.config.listener.tls.client_auth = ClientAuth::kVerifyIfGiven;
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*Telemetry::NewStub(Channel("")), "", response).error_code(), grpc::UNAUTHENTICATED);
  EXPECT_TRUE(GetSnapshot(*As("tenant-a"), "", response).ok());
}

// More calls than a connection may have at once: the rest wait for their turn, and all are answered.
TEST_F(GrpcServerTest, ManyCallsOnOneConnection) {
  Start();
  const auto stub = As("ops");
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i) {
      callers.emplace_back([&] {
        for (int n = 0; n < 25; ++n) {
          sideband::v1::GetSnapshotResponse response;
          good += GetSnapshot(*stub, "", response).ok();
        }
      });
    }
  }
  EXPECT_EQ(good, 400);
}

// Bytes that are no TLS, TLS that is no HTTP/2, and a peer that says nothing: each costs itself its connection.
TEST_F(GrpcServerTest, GarbageEndsItsOwnConnectionOnly) {
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

TEST_F(GrpcServerTest, ABusyPortIsSaidPlainly) {
  Start();
  options_.config.listener.listen.port = server_->port();
  const absl::Status status = GrpcServer::Start(options_, world_.reader, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            absl::StrCat("grpc: cannot listen on 127.0.0.1:", server_->port(), ": Address already in use"));
}

TEST_F(GrpcServerTest, ABadFileIsNamed) {
  options_.config.listener.tls.client_ca_file = "/nonexistent.crt";
  const absl::Status status = GrpcServer::Start(options_, world_.reader, *metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "/nonexistent.crt: No such file or directory");
}

}  // namespace
}  // namespace sideband::daemon
