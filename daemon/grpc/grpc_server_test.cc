// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/service_host.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/view/fake_world.h"
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

}  // namespace

}  // namespace sideband::daemon
