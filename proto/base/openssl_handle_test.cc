// SPDX-License-Identifier: Apache-2.0
#include "proto/base/openssl_handle.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>

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

}  // namespace
}  // namespace sideband
