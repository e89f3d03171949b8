// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_chain.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <string>

#include "absl/time/clock.h"
#include "proto/attestation/throwaway_snp_ca.h"
#include "proto/base/bytes.h"

namespace sideband::attestation {
namespace {

std::string WritePem(const std::string& name, X509& certificate) {
  const std::string path = testing::TempDir() + "/" + name;
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  PEM_write_bio_X509(file.get(), &certificate);
  return path;
}

class SnpChainTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ca_ = ThrowawaySnpCa::Create(kQuickRsaBits)->release();
    other_ca_ = ThrowawaySnpCa::Create(kQuickRsaBits)->release();
  }
  static void TearDownTestSuite() {
    delete ca_;
    delete other_ca_;
  }

  static Bytes Issue(const char* curve, const ThrowawaySnpCa::Deviation& deviation = {}) {
    const KeyPtr key(EVP_EC_gen(curve));
    return ToDer(**ca_->IssueVcek(key.get(), {}, deviation));
  }
  static SnpChain Chain(const std::string& ask_file = "") {
    return *SnpChain::Load({WritePem("chain-ark.pem", ca_->ark())}, ask_file);
  }
  static absl::Status Verify(const SnpChain& chain, ByteSpan vcek, ByteSpan ask) {
    return chain.Verify({.vcek = vcek, .ask = ask}, absl::Now()).status();
  }
  // Of a denial; "" if the chain is trusted.
  static std::string Refusal(const SnpChain& chain, ByteSpan vcek, ByteSpan ask) {
    const absl::Status status = Verify(chain, vcek, ask);
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
    return std::string(status.message());
  }

  static ThrowawaySnpCa* ca_;
  static ThrowawaySnpCa* other_ca_;
  const Bytes ask_ = ToDer(ca_->ask()), ark_ = ToDer(ca_->ark());
};
ThrowawaySnpCa* SnpChainTest::ca_ = nullptr;
ThrowawaySnpCa* SnpChainTest::other_ca_ = nullptr;

TEST_F(SnpChainTest, ReturnsTheVcek) {
  const Bytes vcek = Issue("P-384");
  const auto verified = Chain().Verify({.vcek = vcek, .ask = ask_}, absl::Now());
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ(ToDer(**verified), vcek);
}

TEST_F(SnpChainTest, TheAskIsOfTheEvidenceOrTheVerifiersOwn) {
  const Bytes vcek = Issue("P-384");
  const Bytes other_ask = ToDer(other_ca_->ask());
  EXPECT_EQ(Refusal(Chain(), vcek, {}), "the VCEK is not trusted: there is no ASK of its issuer's name");
  EXPECT_EQ(Refusal(Chain(WritePem("ask.pem", ca_->ask())), vcek, {}), "");
  // Of the same name as the right one, but another key.
  EXPECT_EQ(Refusal(Chain(), vcek, other_ask), "the VCEK is not trusted: certificate signature failure");
  EXPECT_EQ(Refusal(Chain(WritePem("other-ask.pem", other_ca_->ask())), vcek, ask_), "");
}

TEST_F(SnpChainTest, RefusesAnotherRoot) {
  const SnpChain chain = *SnpChain::Load({WritePem("other-ark.pem", other_ca_->ark())}, "");
  EXPECT_NE(Refusal(chain, Issue("P-384"), ask_), "");
}

TEST_F(SnpChainTest, TheRootOfTheEvidenceIsNotTrusted) {
  const SnpChain chain = *SnpChain::Load({WritePem("other-ark.pem", other_ca_->ark())}, "");
  EXPECT_FALSE(chain.Verify({.vcek = Issue("P-384"), .ask = ask_, .ark = ark_}, absl::Now()).ok());
}

TEST_F(SnpChainTest, ThereAreThreeCertificates) {
  const Bytes vcek = Issue("P-384", {.is_issued_by_ark = true});
  for (const Bytes& ask : {ask_, ark_, Bytes()}) {
    EXPECT_EQ(Refusal(Chain(), vcek, ask), "the VCEK is not trusted: there is no ASK of its issuer's name");
  }
}

TEST_F(SnpChainTest, OnlyP384AndPss) {
  EXPECT_EQ(Refusal(Chain(), Issue("P-256"), ask_), "the VCEK is not trusted: its key is not on P-384");
  EXPECT_EQ(Refusal(Chain(), Issue("P-521"), ask_), "the VCEK is not trusted: its key is not on P-384");
  const KeyPtr rsa(EVP_RSA_gen(kQuickRsaBits));
  const Bytes rsa_vcek = ToDer(**ca_->IssueVcek(rsa.get(), {}));
  EXPECT_EQ(Refusal(Chain(), rsa_vcek, ask_), "the VCEK is not trusted: its key is not on P-384");
  EXPECT_EQ(Refusal(Chain(), Issue("P-384", {.is_signed_by_pkcs1 = true}), ask_),
            "the VCEK is not trusted: a certificate is not signed by RSASSA-PSS with SHA-384");
}

TEST_F(SnpChainTest, TimeCountsWhereThereIsOne) {
  const Bytes vcek = Issue("P-384");
  const SnpChain chain = Chain();
  const absl::Time now = absl::Now();
  EXPECT_TRUE(chain.Verify({.vcek = vcek, .ask = ask_}, now + absl::Hours(29 * 24)).ok());
  for (const absl::Time then : {now - absl::Hours(2 * 24), now + absl::Hours(31 * 24), absl::UnixEpoch()}) {
    EXPECT_TRUE(absl::IsPermissionDenied(chain.Verify({.vcek = vcek, .ask = ask_}, then).status())) << then;
  }
  EXPECT_TRUE(chain.Verify({.vcek = vcek, .ask = ask_}, std::nullopt).ok());
}

TEST_F(SnpChainTest, EveryFlippedByteAndEveryCutIsRefused) {
  const SnpChain chain = Chain();
  const Bytes vcek = Issue("P-384");
  for (size_t i = 0; i < vcek.size(); ++i) {
    Bytes flipped = vcek;
    flipped[i] ^= 0x10;
    EXPECT_FALSE(Verify(chain, flipped, ask_).ok()) << i;
    EXPECT_TRUE(absl::IsInvalidArgument(Verify(chain, ByteSpan(vcek).first(i), ask_))) << i;
  }
  for (size_t i = 0; i < ask_.size(); ++i) {
    Bytes flipped = ask_;
    flipped[i] ^= 0x10;
    EXPECT_FALSE(Verify(chain, vcek, flipped).ok()) << i;
  }
  Bytes longer = vcek;
  longer.push_back(0);
  EXPECT_TRUE(absl::IsInvalidArgument(Verify(chain, longer, ask_)));
}

TEST_F(SnpChainTest, FilesAreNamedInErrors) {
  EXPECT_EQ(SnpChain::Load({"/absent.pem"}, "").status().message(), "/absent.pem: No such file or directory");
  const std::string ark = WritePem("chain-ark.pem", ca_->ark());
  EXPECT_EQ(SnpChain::Load({ark}, "/absent.pem").status().message(), "/absent.pem: No such file or directory");
}

}  // namespace
}  // namespace sideband::attestation
