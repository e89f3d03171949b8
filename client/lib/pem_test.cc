// SPDX-License-Identifier: Apache-2.0
#include "client/lib/pem.h"

#include <gtest/gtest.h>

#include <fstream>

#include "client/lib/test_certificates.h"

namespace sideband::client {
namespace {

class PemTest : public testing::Test {
 protected:
  const TestCertificates files_ = TestCertificates::WriteTo(testing::TempDir());
};

TEST_F(PemTest, AcceptsAMatchingSet) {
  const auto material = LoadTlsMaterial(files_.ca_file, files_.client_cert_file, files_.client_key_file);
  ASSERT_TRUE(material.ok()) << material.status();
  EXPECT_EQ(material->key.substr(0, 10), "-----BEGIN");
}

TEST_F(PemTest, NamesTheFileAtFault) {
  const std::string junk = testing::TempDir() + "/junk.pem";
  std::ofstream(junk) << "not PEM\n";
  const auto& [ca, unused_cert, unused_key, cert, key] = files_;
  EXPECT_EQ(LoadTlsMaterial(junk, cert, key).status().message(), junk + ": no PEM certificate in it");
  EXPECT_EQ(LoadTlsMaterial(ca, junk, key).status().message(), junk + ": no PEM certificate in it");
  EXPECT_EQ(LoadTlsMaterial(ca, cert, junk).status().message(), junk + ": no PEM private key in it");
  EXPECT_EQ(LoadTlsMaterial(ca, key, cert).status().message(),
            key + ": a private key, not a certificate: are cert_file and key_file swapped?");
  for (const char* head :
       {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"}) {
    std::ofstream(junk) << head;
    EXPECT_EQ(
        LoadTlsMaterial(ca, cert, junk).status().message(),
        junk + ": the private key has a passphrase: openssl pkey -in " + junk + " -out NEW.key writes it without");
  }
  EXPECT_EQ(LoadTlsMaterial(ca, cert, files_.server_key_file).status().message(),
            files_.server_key_file + ": not the private key of " + cert);
}

TEST_F(PemTest, MissingFileIsNotFound) {
  const auto material = LoadTlsMaterial("/nonexistent.pem", files_.client_cert_file, files_.client_key_file);
  EXPECT_EQ(material.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::client
