// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "daemon/base/socket_folder.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/service_host.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/view/fake_world.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeResponse;
using sideband::v1::Telemetry;
using testing::HasSubstr;

class GrpcServerTest : public GrpcServerFixture {};

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
  const HistoryReader past(world_.reader, world_.store, history);
  options_.parts.history = &past;
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
  EXPECT_EQ(status.error_message(), kUnknownCaller);
  const auto two_uris = Telemetry::NewStub(Channel("URI:spiffe://example.org/ops,URI:spiffe://example.org/tenant-a"));
  EXPECT_EQ(GetSnapshot(*two_uris, "", response).error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcServerTest, LargeRequestsAreRefused) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  EXPECT_EQ(GetSnapshot(*As("ops"), std::string(kGrpcRequestBytesMax + 1, 'x'), response).error_code(),
            grpc::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcServerTest, MalformedRequestsAreRefusedWithoutAWordToStrangers) {
  Start();
  const auto send_garbage = [this](const std::string& who) {
    grpc::GenericStub stub(Channel("URI:spiffe://example.org/" + who));
    grpc::ClientContext context;
    const grpc::Slice slice("\xff\xff\xff");
    grpc::ByteBuffer request(&slice, 1), response;
    absl::Notification done;
    grpc::Status status;
    stub.UnaryCall(&context, "/sideband.v1.Telemetry/GetSnapshot", {}, &request, &response, [&](grpc::Status ended) {
      status = std::move(ended);
      done.Notify();
    });
    WaitUntil(done, "the answer to a malformed request");
    return status;
  };
  EXPECT_EQ(send_garbage("ops").error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(send_garbage("ops").error_message(), "the request is malformed");
  EXPECT_EQ(send_garbage("stranger").error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcServerTest, CallsAreToldTheAuditLog) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  GetSnapshot(*As("tenant-a"), "", response);
  GetSnapshot(*As("tenant-b"), "vm0", response);
  GetSnapshot(*As("stranger"), "", response);
  const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(entries[0].endpoint, "Telemetry/GetSnapshot");
  EXPECT_EQ(entries[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(entries[1].resource, "filter { vm: \"vm0\" }");
  EXPECT_EQ(entries[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(entries[1].reason, "absent or denied");
  EXPECT_EQ(entries[2].principal, "");
  EXPECT_EQ(entries[2].detail, std::vector<std::string>({"certificate uri spiffe://example.org/stranger"}));
}

TEST_F(GrpcServerTest, CallsAreCounted) {
  Start();
  sideband::v1::GetSnapshotResponse response;
  GetSnapshot(*As("ops"), "absent", response);
  EXPECT_THAT(metrics_->Serialize(),
              HasSubstr("sideband_grpc_requests_total{code=\"NOT_FOUND\",method=\"GetSnapshot\"} 1\n"));
}

// More calls than one connection may have at a time: the rest queue in the client, and all are answered.
TEST_F(GrpcServerTest, ManyCallsOnOneConnection) {
  options_.requests.burst = 400;
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

class FakeHealthService final : public grpc::HealthCheckServiceInterface {
 public:
  void SetServingStatus(const std::string& service, bool serving) override { serving_[service] = serving; }
  void SetServingStatus(bool) override { FAIL() << "services that are not ours"; }

  // The status that all services share.
  bool IsServing() const {
    EXPECT_EQ(serving_.size(), std::size(kHealthServices));
    for (const auto& [name, serving] : serving_) EXPECT_EQ(serving, serving_.at("")) << name;
    return serving_.at("");
  }

 private:
  std::map<std::string, bool> serving_;
};

class HealthReporterTest : public testing::Test {
 protected:
  HealthReporterTest() { health_.Add(service_); }

  FakeWorld world_;
  FakeHealthService service_;
  HealthReporter health_{world_.reader};
};

TEST_F(HealthReporterTest, NothingServesBeforeTheFirstSnapshot) {
  EXPECT_FALSE(service_.IsServing());
  health_.Update();
  EXPECT_FALSE(service_.IsServing());
}

TEST_F(HealthReporterTest, OneFreshDeviceIsEnough) {
  world_.Publish(1, 1);
  EXPECT_TRUE(service_.IsServing()) << "at once";
}

TEST_F(HealthReporterTest, FollowsTheAgeOfTheLastFreshDevice) {
  const absl::Duration fresh = DeviceInfo::kFreshIntervals * world_.store.Info(0)->interval;
  world_.Publish(0, 1);
  world_.clock.Advance(fresh);
  health_.Update();
  EXPECT_TRUE(service_.IsServing()) << "just so";
  world_.clock.Advance(absl::Nanoseconds(1));
  health_.Update();
  EXPECT_FALSE(service_.IsServing());
  world_.Publish(0, 2);
  EXPECT_TRUE(service_.IsServing()) << "again";
}

TEST_F(HealthReporterTest, AServerThatEndsIsLeftAlone) {
  health_.RemoveAll();
  world_.Publish(0, 1);
  EXPECT_FALSE(service_.IsServing());
}

TEST_F(HealthReporterTest, AServerThatComesLaterIsToldToo) {
  world_.Publish(0, 1);
  FakeHealthService later;
  health_.Add(later);
  EXPECT_TRUE(later.IsServing());
  world_.clock.Advance(absl::Hours(1));
  health_.Update();
  EXPECT_FALSE(later.IsServing());
  EXPECT_FALSE(service_.IsServing());
}

// Bearer tokens in the metadata of calls.
class GrpcTokenTest : public GrpcServerFixture {
 protected:
  GrpcTokenTest() { world_.policy.Replace(FakePolicy(), keys_); }
  // A stream that has just ended is still audited, through reader_ and tokens_ below, which are destroyed before the
  // base's server_.
  ~GrpcTokenTest() override { server_.reset(); }

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
  StartWith(reader_);
  const auto stranger = As("stranger"), tenant = As("tenant-a");
  const std::string bearer = "Bearer " + Token("tenant-a");
  EXPECT_TRUE(Ask(*stranger, {bearer}).ok());
  EXPECT_EQ(response_.snapshots(0).scopes_size(), 3);
  for (const std::vector<std::string>& fields :
       {std::vector<std::string>{}, {"Bearer x"}, {"Basic YTpi"}, {bearer + "A"}, {bearer, bearer}}) {
    const grpc::Status refused = Ask(*stranger, fields);
    EXPECT_EQ(refused.error_code(), grpc::UNAUTHENTICATED);
    EXPECT_EQ(refused.error_message(), kUnknownCaller);
  }
  EXPECT_EQ(Ask(*tenant, {"Bearer x"}).error_code(), grpc::UNAUTHENTICATED) << "the certificate does not help";
  EXPECT_EQ(Ask(*tenant, {"Bearer " + Token("tenant-b")}).error_code(), grpc::UNAUTHENTICATED) << "ambiguous";
  EXPECT_TRUE(Ask(*tenant, {bearer}).ok());
}

TEST_F(GrpcTokenTest, ATokenNeedsNoCertificate) {
  options_.config.listener.tls.client_auth = ClientAuth::kNone;
  options_.config.listener.tls.client_ca_file.clear();
  StartWith(reader_);
  const auto stub = Telemetry::NewStub(Channel(""));
  EXPECT_TRUE(Ask(*stub, {"Bearer " + Token("tenant-a")}).ok());
  EXPECT_EQ(response_.snapshots(0).scopes_size(), 3);
  EXPECT_EQ(Ask(*stub, {}).error_code(), grpc::UNAUTHENTICATED);
  EXPECT_EQ(Ask(*stub, {"Bearer x"}).error_code(), grpc::UNAUTHENTICATED);
}

TEST_F(GrpcTokenTest, StreamsEndWithTheirTokenOrItsKey) {
  StartWith(reader_);
  const auto stub = As("stranger");
  for (const bool expires : {false, true}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + Token("tenant-a"));
    const auto reader = stub->Subscribe(&context, EndlessRequest());
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

// The listeners: certificates, handshakes, Unix sockets, and errors at start.
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
  WaitUntil([&] { return flood.IsClosed(); }, "the end of the connection that floods");
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
