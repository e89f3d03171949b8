// SPDX-License-Identifier: Apache-2.0
#include "proto/base/throwaway_ca.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <cstdio>

namespace sideband {
namespace {

TEST(ThrowawayCaTest, WhatItIssuesChainsToIt) {
  const std::string folder = testing::TempDir();
  const auto ca = ThrowawayCa::Create(folder);
  ASSERT_TRUE(ca.ok()) << ca.status();
  ASSERT_TRUE((*ca)->Issue("alice", "URI:spiffe://example.org/alice").ok());

  std::FILE* const file = std::fopen((folder + "/alice.pem").c_str(), "r");
  X509* const certificate = PEM_read_X509(file, nullptr, nullptr, nullptr);
  std::fclose(file);
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_load_file(store, (*ca)->ca_file().c_str());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, certificate, nullptr);
  EXPECT_EQ(X509_verify_cert(context), 1) << X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  X509_free(certificate);
}

TEST(ThrowawayCaTest, KeysAreTheOwnersAlone) {
  const std::string folder = testing::TempDir();
  ASSERT_TRUE((*ThrowawayCa::Create(folder))->Issue("bob", "DNS:bob").ok());
  struct stat file;
  ASSERT_EQ(stat((folder + "/bob.key").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  SSL_CTX* const tls = SSL_CTX_new(TLS_server_method());
  EXPECT_EQ(SSL_CTX_use_certificate_file(tls, (folder + "/bob.pem").c_str(), SSL_FILETYPE_PEM), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey_file(tls, (folder + "/bob.key").c_str(), SSL_FILETYPE_PEM), 1);
  EXPECT_EQ(SSL_CTX_check_private_key(tls), 1);
  SSL_CTX_free(tls);
}

TEST(ThrowawayCaTest, FailuresAreSaid) {
  EXPECT_EQ(ThrowawayCa::Create("/nonexistent").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE((*ThrowawayCa::Create(testing::TempDir()))->Issue("x", "NONSENSE").ok());
}

}  // namespace
}  // namespace sideband
