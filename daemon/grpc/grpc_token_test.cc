// SPDX-License-Identifier: Apache-2.0
//
// Bearer tokens in the metadata of calls.
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/identity/fake_issuer.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeResponse;
using sideband::v1::Telemetry;

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
