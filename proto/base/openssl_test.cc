// SPDX-License-Identifier: Apache-2.0
#include "proto/base/openssl.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>

#include "absl/time/clock.h"
#include "proto/base/throwaway_ca.h"

namespace sideband {
namespace {

std::string PemOf(EVP_PKEY* key, const char* pass_phrase) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  const EVP_CIPHER* const cipher = pass_phrase == nullptr ? nullptr : EVP_aes_128_cbc();
  PEM_write_bio_PrivateKey(out.get(), key, cipher, nullptr, 0, nullptr, const_cast<char*>(pass_phrase));
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<size_t>(size)};
}

class OpensslHandleTest : public testing::Test {
 protected:
  ~OpensslHandleTest() override { ERR_clear_error(); }

  const KeyPtr key_{EVP_EC_gen("P-256")};
};

TEST_F(OpensslHandleTest, ReadsAPrivateKey) {
  const std::string pem = PemOf(key_.get(), nullptr);
  const KeyPtr read = ReadPrivateKey(MemoryReader(pem).get());
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(EVP_PKEY_eq(read.get(), key_.get()), 1);
}

TEST_F(OpensslHandleTest, AsksForNoPassPhrase) {
  const std::string pem = PemOf(key_.get(), "secret");
  EXPECT_EQ(ReadPrivateKey(MemoryReader(pem).get()), nullptr);
}

TEST_F(OpensslHandleTest, ReadsNothingFromOtherText) {
  EXPECT_EQ(ReadCertificate(MemoryReader("").get()), nullptr);
  EXPECT_EQ(ReadCertificate(MemoryReader("no PEM").get()), nullptr);
  EXPECT_EQ(ReadPrivateKey(MemoryReader("no PEM").get()), nullptr);
}

class CertificatesTest : public testing::Test {
 protected:
  void SetUp() override {
    ca_ = *ThrowawayCa::Create(testing::TempDir(), "ca");
    ASSERT_TRUE(ca_->Issue("leaf", "DNS:localhost").ok());
    chain_ = *LoadCertificates(ca_->CertFile("leaf"));
    roots_.emplace(*CertificateRoots::Load({ca_->ca_file()}));
  }

  std::unique_ptr<ThrowawayCa> ca_;
  CertificateChain chain_;
  std::optional<CertificateRoots> roots_;
};

TEST_F(CertificatesTest, AChainLeadsToItsRootAndToNoOther) {
  EXPECT_TRUE(roots_->Verify(chain_, absl::Now()).ok());
  const auto other = *ThrowawayCa::Create(testing::TempDir(), "other");
  const absl::Status refused = CertificateRoots::Load({other->ca_file()})->Verify(chain_, absl::Now());
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_TRUE(absl::IsPermissionDenied(roots_->Verify({}, absl::Now())));
}

TEST_F(CertificatesTest, TimeCountsOnlyWhereThereIsACalendar) {
  EXPECT_TRUE(absl::IsPermissionDenied(roots_->Verify(chain_, absl::Now() + absl::Hours(24 * 365))));
  EXPECT_TRUE(roots_->Verify(chain_, std::nullopt).ok());
}

TEST_F(CertificatesTest, DerComesBackWholeOrNotAtAll) {
  Bytes der = ToDer(*chain_.front());
  const CertificatePtr again = FromDer(der);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(X509_cmp(again.get(), chain_.front().get()), 0);
  for (size_t size = 0; size < der.size(); size += 7) EXPECT_EQ(FromDer(ByteSpan(der).first(size)), nullptr) << size;
  der.push_back(0);
  EXPECT_EQ(FromDer(der), nullptr);
}

TEST_F(CertificatesTest, FilesWithoutCertificatesAreNamed) {
  EXPECT_EQ(LoadCertificates(ca_->KeyFile("leaf")).status().message(),
            ca_->KeyFile("leaf") + ": no certificate in PEM form");
  EXPECT_TRUE(absl::IsNotFound(CertificateRoots::Load({"/absent.pem"}).status()));
}

}  // namespace
}  // namespace sideband
