// SPDX-License-Identifier: Apache-2.0
//
// Calls through a gate to a service that only admits them.
#include "daemon/grpc/admission.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/retry_after.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/service_host.h"
#include "daemon/grpc/subscription.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetSnapshotRequest;

constexpr char kPath[] = "/sideband.test.Probe/Ask";

struct ProbeOptions {
  RequestQuota::Limits requests;
  CallsUnderWay::Limits under_way;
  Gate::Options gate;
};

// Keeps the admissions, and with them their shares. A call that is held ends with Release().
class Probe {
 public:
  Probe(const ProbeOptions& options, Reader& reader, SelfMetrics& metrics)
      : quota(options.requests, reader.clock()),
        under_way(options.under_way),
        bodies_(reader, metrics),
        streams_(reader, /*per_identity_max=*/8),
        gate_(*Gate::Listen(options.gate, reader.clock(), metrics)),
        context_{reader, metrics, streams_, quota, under_way, bodies_, *gate_} {
    using ConnectionType = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(ConnectionType::FROM_FD,
                                                                     grpc::InsecureServerCredentials());
    server_ = builder.BuildAndStart();
    gate_->Start([this](int fd) { Serve(fd); }, [](const Credentials&, absl::string_view) {});
  }
  ~Probe() {
    gate_->StopAccepting();
    server_->Shutdown();
    gate_->Stop();
  }

  grpc::Server& server() { return *server_; }
  int port() const { return gate_->port(); }
  // The admission of the last call, which it gives away.
  Admission Take() {
    absl::MutexLock lock(&mu_);
    const absl::Status none = absl::NotFoundError("no call arrived");
    if (admissions_.empty()) return {.asked = {.caller = none}, .status = none};
    Admission last = std::move(admissions_.back());
    admissions_.pop_back();
    return last;
  }
  void HoldNext() {
    absl::MutexLock lock(&mu_);
    hold_next_ = true;
  }
  void AwaitHeld() {
    const auto is_held = [this] {
      absl::MutexLock lock(&mu_);
      return held_ != nullptr;
    };
    WaitUntil(is_held, "the call that is held");
  }
  void Release() {
    absl::MutexLock lock(&mu_);
    std::exchange(held_, nullptr)->Finish(grpc::Status::OK);
  }

  RequestQuota quota;
  CallsUnderWay under_way;

 private:
  void Serve(int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor_->HandleNewConnection(&connection);
  }

  UnaryReactor* Answer(grpc::CallbackServerContext* call, const grpc::ByteBuffer* bytes, grpc::ByteBuffer* response) {
    *response = *bytes;
    GetSnapshotRequest request;
    FromBytes(*bytes, request);
    Admission admission = Admit(context_, *call, "Telemetry/GetSnapshot", request);
    grpc::ServerUnaryReactor* const reactor = call->DefaultReactor();
    absl::MutexLock lock(&mu_);
    if (std::exchange(hold_next_, false)) {
      held_ = reactor;
    } else {
      reactor->Finish(ToGrpcStatus(admission.status));
    }
    admissions_.push_back(std::move(admission));
    return reactor;
  }

  SnapshotBodies bodies_;
  StreamRegistry streams_;
  const std::unique_ptr<Gate> gate_;
  const ServiceContext context_;
  RawService service_{
      "sideband.test.Probe",
      {{"Ask", [this](auto* call, auto* request, auto* response) { return Answer(call, request, response); }}}};
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;

  absl::Mutex mu_;
  bool hold_next_ ABSL_GUARDED_BY(mu_) = false;
  grpc::ServerUnaryReactor* held_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<Admission> admissions_ ABSL_GUARDED_BY(mu_);
};

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    options_.gate.listener = {.listen = {"127.0.0.1", 0}, .tls = ca_.Server()};
    world_.policy.Replace(FakePolicy(), keys_);
  }

  void Start() { probe_ = std::make_unique<Probe>(options_, reader_, *metrics_); }
  // Clients need no certificate.
  void StartForTokens() {
    options_.gate.listener.tls.client_auth = ClientAuth::kNone;
    options_.gate.listener.tls.client_ca_file.clear();
    Start();
  }

  // A new connection; without a certificate where `names` is empty.
  std::shared_ptr<grpc::Channel> Connect(const std::string& names) {
    grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(ca_.ca_file())};
    if (!names.empty()) {
      const CertificateFiles files = ca_.Issue("client", names);
      tls.pem_private_key = *ReadFile(files.key_file);
      tls.pem_cert_chain = *ReadFile(files.cert_file);
    }
    grpc::ChannelArguments own_connection;
    own_connection.SetInt("sideband.test.connection", ++connections_);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", probe_->port()), grpc::SslCredentials(tls),
                                     own_connection);
  }
  std::shared_ptr<grpc::Channel> As(const std::string& who) { return Connect("URI:spiffe://example.org/" + who); }
  std::string Token(const std::string& who) const {
    return issuer_.Token(absl::StrCat(R"({"sub":"spiffe://example.org/)", who, R"(","aud":"sideband","exp":)",
                                      absl::ToUnixSeconds(world_.clock.Now()) + 60, "}"));
  }
  static RawAnswer Ask(const std::shared_ptr<grpc::Channel>& channel, const std::vector<std::string>& fields = {}) {
    return RawCall(channel, kPath, BytesOf(""), fields);
  }
  // The admission of a call on this connection.
  Admission Admitted(const std::shared_ptr<grpc::Channel>& channel, const std::vector<std::string>& fields = {}) {
    Ask(channel, fields);
    return probe_->Take();
  }
  Admission AdmittedWithVm(const std::shared_ptr<grpc::Channel>& channel, const std::string& vm) {
    GetSnapshotRequest request;
    request.mutable_filter()->set_vm(vm);
    RawCall(channel, kPath, BytesOf(request.SerializeAsString()));
    return probe_->Take();
  }

  const FakeCa ca_{"admission-ca", testing::TempDir()};
  FakeWorld world_;
  const FakeIssuer issuer_ = FakeIssuer::Es256("k1");
  const std::shared_ptr<const KeySet> keys_ = *KeySet::Parse(JwksOf({&issuer_}), "jwks.json");
  TokenVerifier tokens_{{.audience = "sideband"}, world_.clock};
  Reader reader_{world_.store, world_.policy, world_.clock, world_.audit, &tokens_};
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  ProbeOptions options_;
  std::unique_ptr<Probe> probe_;
  int connections_ = 0;
};

TEST_F(AdmissionTest, TheCertificateOfTheConnectionIsTheCallers) {
  Start();
  const Admission admission = Admitted(As("tenant-a"));
  EXPECT_EQ(admission.status, absl::OkStatus());
  ASSERT_TRUE(admission.asked.caller.ok());
  EXPECT_EQ(admission.asked.caller->principal.identity, "spiffe://example.org/tenant-a");
  EXPECT_EQ(admission.asked.peer.certificate.uris, std::vector<std::string>({"spiffe://example.org/tenant-a"}));
  EXPECT_EQ(admission.asked.access.endpoint, "Telemetry/GetSnapshot");
  EXPECT_NE(admission.share, nullptr);
  EXPECT_TRUE(admission.is_audited);
}

TEST_F(AdmissionTest, AnUnlistedCertificateIsRejectedWithoutAReason) {
  Start();
  for (const char* names : {
           "URI:spiffe://example.org/stranger",                                    // not in the policy
           "URI:spiffe://example.org/tenant-a,URI:spiffe://example.org/tenant-b",  // ambiguous
           "DNS:tenant-a.example.org",                                             // no identity of the policy
       }) {
    const RawAnswer answer = Ask(Connect(names));
    EXPECT_EQ(answer.status.error_code(), grpc::UNAUTHENTICATED) << names;
    EXPECT_EQ(answer.status.error_message(), kUnknownCaller) << names;
    const Admission admission = probe_->Take();
    EXPECT_EQ(admission.asked.caller.status().message(), "certificate: its identity is not in the policy") << names;
    EXPECT_EQ(admission.share, nullptr) << names;
    EXPECT_TRUE(admission.is_audited) << names;
  }
}

// The channel does not pass the gate.
TEST_F(AdmissionTest, AConnectionThatTheGateDoesNotKnowIsRejectedWithAValidTokenToo) {
  Start();
  const auto channel = probe_->server().InProcessChannel({});
  for (const std::vector<std::string>& fields : {std::vector<std::string>{}, {"Bearer " + Token("tenant-a")}}) {
    const Admission admission = Admitted(channel, fields);
    EXPECT_EQ(admission.status, absl::UnauthenticatedError(kUnknownCaller));
    EXPECT_EQ(admission.asked.caller.status(), absl::UnauthenticatedError("the connection is not known"));
    EXPECT_EQ(admission.asked.peer.bearer_token.has_value(), !fields.empty());
  }
}

TEST_F(AdmissionTest, OneAuthorizationFieldIsTheToken) {
  Start();
  const auto channel = As("stranger");
  const std::string token = Token("tenant-a");
  struct Row {
    std::vector<std::string> fields;
    std::optional<std::string> token;
    bool is_admitted;
  };
  for (const Row& row : std::vector<Row>{
           {{}, std::nullopt, false},                            // the certificate counts, which is not listed
           {{"Bearer " + token}, token, true},                   //
           {{"bearer " + token}, token, true},                   // schemes are case-insensitive
           {{"Bearer x"}, "x", false},                           // no token
           {{"Basic YTpi"}, "", false},                          // another scheme
           {{"Bearer " + token, "Bearer " + token}, "", false},  // ambiguous
           {{"Bearer " + token, "Basic YTpi"}, "", false},       // likewise
       }) {
    const Admission admission = Admitted(channel, row.fields);
    EXPECT_EQ(admission.asked.peer.bearer_token, row.token) << testing::PrintToString(row.fields);
    EXPECT_EQ(admission.status.ok(), row.is_admitted) << testing::PrintToString(row.fields);
  }
}

TEST_F(AdmissionTest, CallersWithoutAnIdentityUseNoQuotaAndNoShare) {
  options_.requests = {.per_second = 1, .burst = 1};
  options_.under_way.calls_max = 1;
  Start();
  const auto stranger = As("stranger");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(stranger).status.error_code(), grpc::UNAUTHENTICATED);
  EXPECT_EQ(probe_->quota.remembered(), 0u);
  EXPECT_EQ(probe_->under_way.identities(), 0u);
  EXPECT_EQ(Admitted(As("tenant-a")).status, absl::OkStatus());
}

// A third of a second is not a whole number of milliseconds: a retry after 333 ms would be rejected.
TEST_F(AdmissionTest, ARejectionByQuotaTellsWhenToRetry) {
  options_.requests = {.per_second = 3, .burst = 1};
  Start();
  const auto channel = As("tenant-a");
  EXPECT_TRUE(Ask(channel).trailers.empty());
  const RawAnswer rejected = Ask(channel);
  EXPECT_EQ(rejected.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(rejected.status.error_message(), "at most 3 calls a second");
  ASSERT_EQ(rejected.trailers.count(kRetryPushback), 1u);
  EXPECT_EQ(rejected.trailers.find(kRetryPushback)->second, "334");
  EXPECT_EQ(probe_->Take().share, nullptr);
  world_.clock.Advance(absl::Milliseconds(333));
  EXPECT_EQ(Ask(channel).status.error_code(), grpc::RESOURCE_EXHAUSTED);
  world_.clock.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(Ask(channel).status.ok());
}

TEST_F(AdmissionTest, TheQuotaIsOfTheIdentity) {
  options_.requests = {.per_second = 1, .burst = 1};
  Start();
  EXPECT_TRUE(Ask(As("tenant-a")).status.ok());
  EXPECT_EQ(Ask(As("tenant-a")).status.error_code(), grpc::RESOURCE_EXHAUSTED) << "another connection";
  EXPECT_EQ(Ask(As("stranger"), {"Bearer " + Token("tenant-a")}).status.error_code(), grpc::RESOURCE_EXHAUSTED)
      << "by token";
  EXPECT_TRUE(Ask(As("tenant-b")).status.ok());
}

TEST_F(AdmissionTest, OnlyTheFirstOfSeveralQuotaRejectionsIsAudited) {
  options_.requests = {.per_second = 10, .burst = 1};
  Start();
  const auto channel = As("tenant-a");
  struct Row {
    absl::Duration pause;  // before the call
    bool is_admitted, is_audited;
  };
  for (const Row& row : std::vector<Row>{{absl::ZeroDuration(), true, true},
                                         {absl::ZeroDuration(), false, true},     // the first
                                         {absl::ZeroDuration(), false, false},    // repeated
                                         {absl::Milliseconds(99), false, false},  // still
                                         {absl::Milliseconds(1), true, true},     // ends the series
                                         {absl::ZeroDuration(), false, true}}) {  // the first of the next
    world_.clock.Advance(row.pause);
    const Admission admission = AdmittedWithVm(channel, "v");
    EXPECT_EQ(admission.status.ok(), row.is_admitted);
    EXPECT_EQ(admission.is_audited, row.is_audited);
    // The text of a request that is not audited is not made.
    EXPECT_EQ(admission.asked.access.resource, row.is_audited ? "filter { vm: \"v\" }" : "");
  }
}

TEST_F(AdmissionTest, CallsUnderWayAreLimitedUntilAShareIsReleased) {
  options_.under_way.calls_max = 2;
  Start();
  const auto channel = As("tenant-a");
  std::optional<Admission> first = Admitted(channel);
  const Admission second = Admitted(channel);
  EXPECT_EQ(second.status, absl::OkStatus());
  const Admission rejected = Admitted(channel);
  EXPECT_EQ(rejected.status,
            WithRetryAfter(absl::ResourceExhaustedError("at most 2 calls at a time"), absl::Seconds(1)));
  EXPECT_EQ(rejected.share, nullptr);
  EXPECT_TRUE(rejected.is_audited);
  EXPECT_EQ(Admitted(As("tenant-b")).status, absl::OkStatus());
  first.reset();
  EXPECT_EQ(Admitted(channel).status, absl::OkStatus());
}

TEST_F(AdmissionTest, UnreadAnswersAreLimited) {
  options_.under_way.bytes_max = 100;
  Start();
  const auto channel = As("tenant-a");
  const Admission unread = Admitted(channel);
  unread.share->Hold(99);
  EXPECT_EQ(Admitted(channel).status, absl::OkStatus());
  unread.share->Hold(100);
  EXPECT_EQ(Admitted(channel).status.message(), "too many bytes of earlier answers are unread; retry in 1s");
  unread.share->Hold(0);
  EXPECT_EQ(Admitted(channel).status, absl::OkStatus());
}

// Otherwise rejections by the number of calls under way would cost the caller nothing.
TEST_F(AdmissionTest, ARejectionForCallsUnderWayIsChargedToTheQuota) {
  options_.requests = {.per_second = 1, .burst = 2};
  options_.under_way.calls_max = 1;
  Start();
  const auto channel = As("tenant-a");
  const Admission held = Admitted(channel);
  EXPECT_EQ(Admitted(channel).status.message(), "at most 1 call at a time; retry in 1s");
  EXPECT_EQ(Admitted(channel).status, absl::ResourceExhaustedError("at most 1 call a second"));
}

TEST_F(AdmissionTest, ALargeRequestIsToldByItsSize) {
  Start();
  const auto channel = As("tenant-a");
  const std::string longest(1018, 'v');  // 6 bytes of tags and lengths make it 1024
  EXPECT_EQ(AdmittedWithVm(channel, longest).asked.access.resource, "filter { vm: \"" + longest + "\" }");
  EXPECT_EQ(AdmittedWithVm(channel, longest + "v").asked.access.resource, "1025 bytes");
}

TEST_F(AdmissionTest, TheRequestOfARejectedCallerIsToldToo) {
  Start();
  EXPECT_EQ(AdmittedWithVm(As("stranger"), "v").asked.access.resource, "filter { vm: \"v\" }");
}

// The only connection that tenant-a may have is busy with a call.
TEST_F(AdmissionTest, AConnectionBeyondThoseOfTheTokensIdentityIsRejected) {
  options_.gate.connections_per_identity_max = 1;
  StartForTokens();
  probe_->HoldNext();
  std::thread first([this] { Ask(Connect(""), {"Bearer " + Token("tenant-a")}); });
  probe_->AwaitHeld();
  EXPECT_EQ(Admitted(Connect(""), {"Bearer " + Token("tenant-b")}).status, absl::OkStatus());
  EXPECT_EQ(
      Admitted(Connect(""), {"Bearer " + Token("tenant-a")}).status,
      WithRetryAfter(absl::ResourceExhaustedError("too many connections of this identity are busy"), absl::Seconds(1)));
  EXPECT_EQ(probe_->quota.remembered(), 2u) << "tenant-a's first call and tenant-b's";
  probe_->Release();
  const TimeLimit limit("the answer to the call that was held");
  first.join();
}

class AdmissionAuditTest : public testing::Test {
 protected:
  Asked AskedBy(const std::string& who) {
    const Credentials peer = CredentialsOf(who);
    return {peer, world_.reader.Authenticate(peer), {.endpoint = "Telemetry/Subscribe", .resource = "mode: STREAM"}};
  }
  std::vector<AuditEntry> AccessEntries() const { return world_.audit.Entries(AuditKind::kAccess); }

  FakeWorld world_;
  grpc::CallbackServerContext call_;
};

TEST_F(AdmissionAuditTest, AnAdmittedCallIsToldWithItsOutcome) {
  Admission admission{.asked = AskedBy("tenant-a")};
  Conclude(world_.reader, call_, admission, absl::OkStatus());
  Conclude(world_.reader, call_, admission, absl::InvalidArgumentError("mode: is absent"));
  const std::vector<AuditEntry> entries = AccessEntries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(entries[0].role, "tenant:a");
  EXPECT_EQ(entries[0].endpoint, "Telemetry/Subscribe");
  EXPECT_EQ(entries[0].resource, "mode: STREAM");
  EXPECT_EQ(entries[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(entries[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(entries[1].reason, "INVALID_ARGUMENT: mode: is absent");
}

TEST_F(AdmissionAuditTest, OnlyFailedCallsOfKnownCallersHaveAnId) {
  Admission admission{.asked = AskedBy("tenant-a")}, again{.asked = AskedBy("tenant-a")},
      unknown{.asked = AskedBy("stranger")};
  Conclude(world_.reader, call_, admission, absl::OkStatus());
  Conclude(world_.reader, call_, unknown, absl::UnauthenticatedError("x"));
  Conclude(world_.reader, call_, admission, absl::NotFoundError("x"));
  Conclude(world_.reader, call_, again, absl::NotFoundError("x"));
  const std::vector<AuditEntry> entries = AccessEntries();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_TRUE(entries[0].detail.empty());
  for (const std::string& shown : entries[1].detail) EXPECT_THAT(shown, testing::StartsWith("certificate "));
  ASSERT_EQ(entries[2].detail.size(), 1u);
  EXPECT_THAT(entries[2].detail[0], testing::MatchesRegex("request [0-9a-f]+"));
  EXPECT_EQ(entries[2].detail[0].size(), std::string("request ").size() + 16);
  EXPECT_NE(entries[2].detail, entries[3].detail);
}

TEST_F(AdmissionAuditTest, WhatIsNotToBeToldIsNotRecorded) {
  Admission admission{.asked = AskedBy("tenant-a"), .is_audited = false};
  Conclude(world_.reader, call_, admission, absl::ResourceExhaustedError("at most 50 calls a second"));
  EXPECT_TRUE(AccessEntries().empty());
}

TEST_F(AdmissionAuditTest, OnlyStreamsThatThePolicyEndsAreTold) {
  struct Row {
    absl::Status status;
    bool is_audited;
  };
  for (const Row& row : std::vector<Row>{
           {absl::UnauthenticatedError("nobody"), true},  // no longer in the policy
           {absl::NotFoundError("gone"), true},           // its VM is denied, or was removed
           {absl::OkStatus(), false},                     // MODE_ONCE
           {absl::CancelledError("the reader is gone"), false},
           {absl::UnavailableError("shutting down"), false},
           {absl::PermissionDeniedError("no"), false},  // not a status of streams
       }) {
    world_.audit.Clear();
    AuditStreamEnd(world_.reader, AskedBy("tenant-a"), row.status);
    EXPECT_EQ(AccessEntries().size(), row.is_audited ? 1u : 0u) << row.status;
  }
}

// The stream's own status has one message for every reason.
TEST_F(AdmissionAuditTest, TheEndOfAStreamIsToldWithItsReasonAndThePolicyOfThatMoment) {
  const Asked asked = AskedBy("tenant-a");
  const uint64_t version = asked.caller->policy.version;
  world_.policy.Replace(*Policy::Parse("version: 1\n", "p"));
  AuditStreamEnd(world_.reader, asked, UnknownCallerError());
  const std::vector<AuditEntry> entries = AccessEntries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].principal, "spiffe://example.org/tenant-a");
  EXPECT_EQ(entries[0].decision, AuditDecision::kDeny);
  EXPECT_EQ(entries[0].reason, "stream ended: UNAUTHENTICATED: certificate: its identity is not in the policy");
  EXPECT_EQ(entries[0].policy_version, version + 1);
}

TEST_F(AdmissionAuditTest, TheEndOfAStreamOfACallerStillListedHasTheStreamsStatus) {
  AuditStreamEnd(world_.reader, AskedBy("tenant-a"), absl::NotFoundError("gone"));
  ASSERT_EQ(AccessEntries().size(), 1u);
  EXPECT_EQ(AccessEntries()[0].reason, "stream ended: absent or denied");
}

}  // namespace
}  // namespace sideband::daemon
