// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/messages.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "proto/base/throwaway_ca.h"

namespace sideband::exchange {
namespace {

const Uuid kDevice = *Uuid::Parse("11111111-2222-4333-8444-555555555555");
const Bytes kText = {1, 2, 3};

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() : ca_(*ThrowawayCa::Create(testing::TempDir(), "identity-ca")) {
    ca_->Issue("sealer", "URI:urn:uuid:" + kDevice.ToString() + ",DNS:host").IgnoreError();
    ca_->Issue("other", "DNS:other").IgnoreError();
  }
  absl::StatusOr<SealerIdentity> Load(const std::string& certificate, const std::string& key) const {
    return SealerIdentity::Load(ca_->CertFile(certificate), ca_->KeyFile(key));
  }

  const std::unique_ptr<ThrowawayCa> ca_;
};

TEST_F(IdentityTest, WhatItSignsIsVerifiedAndNothingElse) {
  const SealerIdentity identity = *Load("sealer", "sealer");
  const CertificateRoots roots = *CertificateRoots::Load({ca_->ca_file()});
  const std::vector<ByteSpan> chain = {identity.certificates().front()};
  const Bytes signature = *identity.Sign(kText);
  EXPECT_TRUE(VerifySigned(roots, chain, kText, signature, absl::Now()).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(VerifySigned(roots, chain, Bytes{1, 2}, signature, absl::Now())));
  EXPECT_TRUE(absl::IsPermissionDenied(VerifySigned(roots, chain, kText, {}, absl::Now())));
  EXPECT_TRUE(absl::IsPermissionDenied(VerifySigned(roots, {}, kText, signature, absl::Now())));
  EXPECT_TRUE(absl::IsPermissionDenied(VerifySigned(roots, {kText}, kText, signature, absl::Now())));
  const SealerIdentity other = *Load("other", "other");
  EXPECT_TRUE(
      absl::IsPermissionDenied(VerifySigned(roots, {other.certificates().front()}, kText, signature, absl::Now())));
}

TEST_F(IdentityTest, ACertificateNamesItsDevice) {
  EXPECT_TRUE(IsOfDevice(Load("sealer", "sealer")->certificates().front(), kDevice));
  EXPECT_FALSE(IsOfDevice(Load("sealer", "sealer")->certificates().front(), Uuid{}));
  EXPECT_FALSE(IsOfDevice(Load("other", "other")->certificates().front(), kDevice));
  EXPECT_FALSE(IsOfDevice(kText, kDevice));
}

TEST_F(IdentityTest, AKeyOfAnotherCertificateIsNamed) {
  EXPECT_EQ(Load("sealer", "other").status().message(),
            ca_->KeyFile("other") + ": not the key of " + ca_->CertFile("sealer"));
  EXPECT_TRUE(absl::IsNotFound(Load("absent", "sealer").status()));
}

ExchangeRequest SmallRequest() {
  return {.kind = attestation::EvidenceKind::kSevSnp,
          .device = *Uuid::Parse("11111111-2222-4333-8444-555555555555"),
          .vm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
          .public_key = {1},
          .nonce = {2},
          .challenge = {3},
          .evidence = {4, 5, 6}};
}

TEST(RequestTest, ComesBackAndHasItsFixedSize) {
  const Bytes bytes = EncodeRequest(SmallRequest());
  EXPECT_EQ(bytes.size(), kRequestFixedBytes + 3);
  EXPECT_EQ(*ParseRequest(bytes), SmallRequest());
}

TEST(RequestTest, RefusesCutsOtherVersionsSuitesAndKinds) {
  const Bytes bytes = EncodeRequest(SmallRequest());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseRequest(ByteSpan(bytes).first(size)).ok());
  for (const size_t at : {0, 4, 5, 6, 7}) {
    Bytes other = bytes;
    other[at] ^= 0x80;
    EXPECT_FALSE(ParseRequest(other).ok()) << at;
  }
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(ParseRequest(longer).ok());
  EXPECT_FALSE(ParseRequest(Bytes(kRequestBytesMax + 1)).ok());
}

TEST(RequestTest, RefusesARequestWithoutNonce) {
  ExchangeRequest request = SmallRequest();
  request.nonce = {};
  EXPECT_FALSE(ParseRequest(EncodeRequest(request)).ok());
}

TEST(RequestTest, ReportDataIsOfEverythingButTheEvidence) {
  const ReportData data = *ReportDataOf(SmallRequest());
  ExchangeRequest request = SmallRequest();
  request.evidence = {};
  EXPECT_EQ(*ReportDataOf(request), data);
  request.vm.bytes[0] ^= 1;
  EXPECT_NE(*ReportDataOf(request), data);
}

Statement SmallStatement() {
  return {.sealer = SealerKind::kDevice,
          .device = *Uuid::Parse("11111111-2222-4333-8444-555555555555"),
          .boot_id = 11,
          .vm = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
          .generation = 3,
          .enc = {1},
          .measurement = {2},
          .request = {3},
          .events = {"a", "b"}};
}

Bytes Copy(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

TEST(StatementTest, ComesBackOrIsRefusedWhole) {
  const Bytes bytes = EncodeStatement(SmallStatement());
  EXPECT_EQ(*ParseStatement(bytes), SmallStatement());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseStatement(ByteSpan(bytes).first(size)).ok());
  for (const size_t at : {0, 4, 5, 6, 7}) {
    Bytes other = bytes;
    other[at] ^= 0x80;
    EXPECT_FALSE(ParseStatement(other).ok()) << at;
  }
}

TEST(StatementTest, AnswersComeBackOrAreRefusedWhole) {
  const Bytes statement = {1, 2, 3}, signature = {9};
  const Bytes bytes = EncodeAnswer(statement, {{4}, {5, 6}}, signature);
  const auto answer = ParseAnswer(bytes);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Copy(answer->statement), statement);
  ASSERT_EQ(answer->certificates.size(), 2);
  EXPECT_EQ(Copy(answer->certificates[1]), (Bytes{5, 6}));
  EXPECT_EQ(Copy(answer->signature), signature);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseAnswer(ByteSpan(bytes).first(size)).ok());
  EXPECT_FALSE(ParseAnswer(EncodeAnswer(statement, {}, signature)).ok());
  EXPECT_FALSE(ParseAnswer(EncodeAnswer(statement, std::vector<Bytes>(9, Bytes{1}), signature)).ok());
}

}  // namespace
}  // namespace sideband::exchange
