// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/identity.h"

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

}  // namespace

}  // namespace sideband::exchange
