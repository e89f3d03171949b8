// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/exchange_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/view/fake_world.h"
#include "proto/exchange/messages.h"

namespace sideband::daemon {
namespace {

class FakeSealer final : public GuestSealer {
 public:
  absl::Status Draw(const SealedVm& vm, Done<Bytes> done) override {
    asked = vm;
    done(drawn);
    return absl::OkStatus();
  }
  absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) override {
    asked = vm;
    sent = std::move(request);
    done(answer);
    return absl::OkStatus();
  }
  absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) override {
    asked = vm;
    done(epoch);
    return absl::OkStatus();
  }

  std::optional<SealedVm> asked;
  Bytes sent;
  absl::StatusOr<Bytes> drawn = Bytes{1, 2}, answer = Bytes{3, 4};
  absl::StatusOr<uint64_t> epoch = uint64_t{5};
};

class ExchangeQueriesTest : public testing::Test {
 protected:
  ExchangeQueriesTest() { world_.Publish(0, 1); }

  Caller CallerOf(const std::string& who) const { return *world_.reader.Identify(CredentialsOf(who)); }

  template <typename Response>
  static auto Into(absl::StatusOr<Response>& to) {
    return [&to](const absl::StatusOr<Response>& response) { to = response; };
  }
  absl::StatusOr<sideband::v1::ChallengeResponse> Challenge(const std::string& who, const std::string& vm) {
    sideband::v1::ChallengeRequest request;
    request.set_vm(vm);
    absl::StatusOr<sideband::v1::ChallengeResponse> response = absl::UnknownError("no answer");
    const absl::Status status = queries_.Challenge(CallerOf(who), request, Into(response));
    return status.ok() ? response : status;
  }
  absl::StatusOr<sideband::v1::ExchangeResponse> Exchange(const std::string& who, const std::string& bytes) {
    sideband::v1::ExchangeRequest request;
    request.set_device("gpu0");
    request.set_vm(kSecretUuid);
    request.set_request(bytes);
    absl::StatusOr<sideband::v1::ExchangeResponse> response = absl::UnknownError("no answer");
    const absl::Status status = queries_.Exchange(CallerOf(who), request, Into(response));
    return status.ok() ? response : status;
  }
  // The head of a request for the confidential VM.
  exchange::ExchangeRequest Request() const {
    return {.device = world_.topology->catalog().device, .vm = *Uuid::Parse(kSecretUuid), .nonce = {1}};
  }
  static std::string BytesOf(const exchange::ExchangeRequest& request) {
    const Bytes bytes = exchange::EncodeRequest(request);
    return {bytes.begin(), bytes.end()};
  }
  absl::Status Rotate(const std::string& who, const std::string& vm) {
    sideband::v1::RotateKeysRequest request;
    request.set_device("gpu0");
    request.set_vm(vm);
    absl::StatusOr<sideband::v1::RotateKeysResponse> response = absl::UnknownError("no answer");
    const absl::Status status = queries_.Rotate(CallerOf(who), request, Into(response));
    return status.ok() ? response.status() : status;
  }

  AuditEntry LastEntry() const { return world_.audit.Entries(AuditKind::kAccess).back(); }

  FakeWorld world_;
  FakeSealer sealer_;
  const ExchangeQueries queries_{world_.reader, sealer_};
};

TEST_F(ExchangeQueriesTest, TheOwnerGetsAChallengeForTheVm) {
  const auto response = Challenge("tenant-c", "secret");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->challenge(), "\1\2");
  EXPECT_EQ(response->vm_uuid().size(), 16);
  EXPECT_EQ(sealer_.asked->vm, *Uuid::Parse(kSecretUuid));
  EXPECT_EQ(sealer_.asked->device_uuid, world_.topology->catalog().device);
}

TEST_F(ExchangeQueriesTest, ForAllOthersThereIsNoSuchVm) {
  for (const char* who : {"ops", "auditor", "tenant-a"}) {
    EXPECT_EQ(Challenge(who, "secret").status(), Challenge(who, "absent").status()) << who;
    EXPECT_TRUE(absl::IsNotFound(Exchange(who, "x").status())) << who;
  }
  EXPECT_TRUE(absl::IsNotFound(Challenge("tenant-a", "vm0").status())) << "not confidential";
  EXPECT_FALSE(sealer_.asked);
}

TEST_F(ExchangeQueriesTest, WhateverIsWrongHasOneAnswerAndTheLogTheReason) {
  for (const absl::Status& why : {absl::PermissionDeniedError("of another VM"), absl::InvalidArgumentError("truncated"),
                                  absl::InternalError("no random numbers")}) {
    sealer_.answer = why;
    EXPECT_EQ(Exchange("tenant-c", BytesOf(Request())).status(), ExchangeRefused());
    EXPECT_EQ(LastEntry().decision, AuditDecision::kDeny);
    EXPECT_NE(LastEntry().reason.find(std::string(why.message())), std::string::npos);
  }
}

TEST_F(ExchangeQueriesTest, ASealerIsNotAskedWhatIsNoRequestForThisVm) {
  exchange::ExchangeRequest of_other_vm = Request(), of_other_device = Request(), long_one = Request();
  of_other_vm.vm.bytes[15] ^= 1;
  of_other_device.device.bytes[0] ^= 1;
  long_one.evidence.resize(exchange::kEvidenceBytesMax + 1);
  const std::string whole = BytesOf(Request());
  ASSERT_EQ(whole.size(), exchange::kRequestFixedBytes);
  std::vector<std::string> refused = {BytesOf(of_other_vm), BytesOf(of_other_device), BytesOf(long_one), whole + "x"};
  for (size_t size = 0; size < whole.size(); ++size) refused.push_back(whole.substr(0, size));
  for (const std::string& bytes : refused) {
    EXPECT_EQ(Exchange("tenant-c", bytes).status(), ExchangeRefused()) << bytes.size();
    EXPECT_EQ(LastEntry().decision, AuditDecision::kDeny);
    EXPECT_THAT(LastEntry().reason, testing::StartsWith("exchange refused: "));
  }
  EXPECT_FALSE(sealer_.asked);
}

TEST_F(ExchangeQueriesTest, AnExchangeIsAudited) {
  const auto response = Exchange("tenant-c", BytesOf(Request()));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->answer(), "\3\4");
  EXPECT_EQ(sealer_.sent, exchange::EncodeRequest(Request()));
  EXPECT_EQ(LastEntry().decision, AuditDecision::kAllow);
  EXPECT_EQ(LastEntry().resource, std::string("device gpu0, VM ") + kSecretUuid);
}

TEST_F(ExchangeQueriesTest, FloodsAndUntrustedVmsAreToldApart) {
  sealer_.drawn = absl::ResourceExhaustedError("too many");
  EXPECT_TRUE(absl::IsResourceExhausted(Challenge("tenant-c", "secret").status()));
  sealer_.drawn = absl::NotFoundError("nobody");
  EXPECT_TRUE(absl::IsFailedPrecondition(Challenge("tenant-c", "secret").status()));
}

TEST_F(ExchangeQueriesTest, OperatorsRotateWithoutSeeing) {
  EXPECT_TRUE(Rotate("ops", "secret").ok());
  EXPECT_TRUE(absl::IsNotFound(Rotate("ops", "vm0"))) << "not confidential";
  sealer_.epoch = absl::NotFoundError("none");
  EXPECT_TRUE(absl::IsFailedPrecondition(Rotate("ops", "secret")));
}

}  // namespace
}  // namespace sideband::daemon
